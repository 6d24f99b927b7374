import FirmwareSim

// The simulated devices of `FaultMatrix`, for any carrier, and their true states.

extension PumpFirmwareOptions {
    static let matrix = PumpFirmwareOptions(
        lineRate: .unlimited, heat: .fixed(water: 12, skin: 34.5), potentiometer: 716)
}

extension Overheard<PumpFirmware> {
    /// A pump whose water warms by 0.1 °C per second, so that an old temperature can be recognized.
    static var warmingPump: Overheard<PumpFirmware> {
        Overheard(PumpFirmware(options: .matrix)) { pump, time in
            pump.setWaterTemperature(12 + Double(time.components.seconds) / 10)
        }
    }
}

extension PumpFaultScript.Truth {
    init(_ pump: Overheard<PumpFirmware>) {
        self.init(state: pump.device.state.rawValue, duty: Int(pump.device.duty), said: pump.said)
    }
}

extension StormFirmwareOptions {
    static func matrix(_ seed: UInt64) -> StormFirmwareOptions {
        StormFirmwareOptions(
            lineRate: .unlimited, seed: seed, rows: 12, interval: .seconds(1), echoesCommand: seed % 2 == 0)
    }
}

extension PeerFirmware {
    static func matrix(
        _ settings: SimulatorSettings, _ seed: UInt64, over carrier: PeerFirmwareOptions.Carrier
    ) -> PeerFirmware {
        let fault = settings.ownFault().flatMap(PeerFirmwareOptions.ImageFault.init)
        if fault == .tooLarge { return carrier == .notifications ? largeOverRadio : largeOnLine }
        return PeerFirmware(
            options: PeerFirmwareOptions(
                carrier: carrier, seed: seed, imageByteCount: 600, imageFault: fault, interval: .seconds(3),
                acknowledges: seed % 2 == 0))
    }

    // An image that is too large has megabytes, so it is created only once. On a line, the rate is low enough for the
    // host to close the link near the beginning of the image.
    private static let largeOnLine = large(over: .line(.baud(115_200)))
    private static let largeOverRadio = large(over: .notifications)

    private static func large(over carrier: PeerFirmwareOptions.Carrier) -> PeerFirmware {
        PeerFirmware(
            options: PeerFirmwareOptions(carrier: carrier, imageFault: .tooLarge, interval: .seconds(3)))
    }
}

extension PeerFaultScript {
    static let ownFaults = PeerFirmwareOptions.ImageFault.allCases.map { ($0.rawValue, ["fault": $0.rawValue]) }
}

extension PeerFaultScript.Truth {
    init(_ peer: PeerFirmware, said: [String]) {
        self.init(isOn: peer.isOn, messages: peer.messages, image: peer.picture.bytes, said: said)
    }
}

extension RescueFirmwareOptions {
    static func matrix(_ settings: SimulatorSettings, _ seed: UInt64, over carrier: Carrier) -> RescueFirmwareOptions {
        RescueFirmwareOptions(carrier: carrier, seed: seed, malformed: settings.number("malformed") ?? 0)
    }
}

extension RescueFaultScript {
    static let ownFaults = [("malformed=50", ["malformed": "50"])]
}

extension RescueFaultScript.Truth {
    init(_ phone: RescueFirmware) {
        let stock = PhoneStock(seed: phone.options.seed)
        self.init(stock: (0..<phone.options.messages).map(stock.message), received: phone.received)
    }
}
