import FirmwareSim
import LineProtocol
import Testing

/// Hosts of all families, and what becomes of what they do where a device or its line has a fault. See `Tests/bench/README.md`.
@Suite("A host with a device that has faults, on a wire", .timeLimit(.minutes(5)))
struct WireFaultTests {
    @Test("A pump") func pump() throws {
        try FaultMatrix.check(.pump, over: .line, PumpFaultScript.self) { settings, seed in
            let options = PumpFirmwareOptions(
                lineRate: .unlimited, heat: .fixed(water: 12, skin: 34.5), potentiometer: 716)
            return WireWorld(Overheard(PumpFirmware(options: options)), faults: settings.faults(), seed: seed)
                .run(PumpFaultScript.self, seed: seed) {
                    PumpFaultScript.Truth(state: $0.device.state.rawValue, duty: Int($0.device.duty), said: $0.said)
                }
        }
    }

    @Test("A storm sensor") func storm() throws {
        try FaultMatrix.check(.storm, over: .line, StormFaultScript.self) { settings, seed in
            let options = StormFirmwareOptions(
                lineRate: .unlimited, seed: seed, rows: 12, interval: .seconds(1), echoesCommand: seed % 2 == 0)
            return WireWorld(StormFirmware(options: options), faults: settings.faults(), seed: seed)
                .run(StormFaultScript.self, seed: seed) {
                    StormFaultScript.Truth(log: $0.log, rowCount: $0.rowCount)
                }
        }
    }

    @Test("An LED board") func led() throws {
        try FaultMatrix.check(.led, over: .line, LEDFaultScript.self) { settings, seed in
            // The protocol leaves open whether the board answers a change.
            let board = LEDFirmware(lineRate: .unlimited, answersSets: seed % 4 != 0)
            return WireWorld(board, faults: settings.faults(), seed: seed).run(LEDFaultScript.self, seed: seed) {
                $0.isLit
            }
        }
    }

    @Test("A peer") func peer() throws {
        let own = PeerFirmwareOptions.ImageFault.allCases.map { ($0.rawValue, ["fault": $0.rawValue]) }
        try FaultMatrix.check(.peer, over: .line, PeerFaultScript.self, own: own) { settings, seed in
            let fault = settings.ownFault().flatMap(PeerFirmwareOptions.ImageFault.init)
            let options = PeerFirmwareOptions(
                carrier: .line(fault == .tooLarge ? .baud(115_200) : .unlimited), seed: seed, imageByteCount: 600,
                imageFault: fault, interval: .seconds(3), acknowledges: seed % 2 == 0)
            return WireWorld(Overheard(PeerFirmware(options: options)), faults: settings.faults(), seed: seed)
                .run(PeerFaultScript.self, seed: seed) {
                    PeerFaultScript.Truth(
                        isOn: $0.device.isOn, messages: $0.device.messages, image: $0.device.picture.bytes,
                        said: $0.said)
                }
        }
    }

    @Test("A phone of the rescue app") func rescue() throws {
        let own = [("malformed=50", ["malformed": "50"])]
        try FaultMatrix.check(.rescue, over: .line, RescueFaultScript.self, own: own) { settings, seed in
            let options = RescueFirmwareOptions(
                carrier: .line(.unlimited), seed: seed, malformed: settings.number("malformed") ?? 0)
            return WireWorld(RescueFirmware(options: options), faults: settings.faults(), seed: seed)
                .run(RescueFaultScript.self, seed: seed) {
                    RescueFaultScript.Truth(
                        stock: (0..<$0.options.messages).map(PhoneStock(seed: seed).message), received: $0.received)
                }
        }
    }
}
