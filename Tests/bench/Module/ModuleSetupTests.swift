import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@Suite("Setup of BLE modules", .timeLimit(.minutes(5)))
struct ModuleSetupTests {
    /// The dialects of AT commands: the genuine HM-10's, and two of its clones.
    private static let dialects = ["hm-10", "cc41-a", "mlt-bt05"]
    /// The default name of a module of each dialect.
    private static let names = ["hm-10": "HMSoft", "cc41-a": "BT05", "mlt-bt05": "MLT-BT05"]

    private func module(_ dialect: String, baud: Int = 9600) throws -> ModuleRig {
        ModuleRig(try #require(SimulatedModule(dialect: dialect, lineRate: .baud(baud))))
    }

    private func state(_ rig: ModuleRig) throws -> SimulatedModule { try #require(rig.device as? SimulatedModule) }

    /// Returns the error of an operation that must fail.
    private func error(_ result: Result<ModuleInfo, ModuleSetupError>) throws -> ModuleSetupError {
        guard case .failure(let error) = result else { throw Unexpected() }
        return error
    }

    private struct Unexpected: Error {}

    @Test("info detects the dialect", arguments: dialects)
    func info(dialect: String) throws {
        let rig = try module(dialect)
        let info = try rig.perform { setup throws(ModuleSetupError) in try await setup.info() }.get()
        #expect(info.dialect == dialect && info.name == Self.names[dialect])
        #expect(info.baudRate == 9600 && info.lineRate == 9600 && info.role == .peripheral)
        #expect(info.address == "00:15:83:00:00:10")
        #expect(info.version != nil)
        #expect(rig.opened == [9600])
    }

    @Test(
        "info finds the module's baud rate", arguments: dialects,
        [115_200, 57600, 38400, 19200, 230_400, 4800, 2400])
    func rates(dialect: String, rate: Int) throws {
        let rig = try module(dialect, baud: rate)
        let result = try rig.perform { setup throws(ModuleSetupError) in try await setup.info() }
        let info = try result.get()
        #expect(info.dialect == dialect && info.lineRate == rate)
        #expect(rig.opened.last == rate)
        // An MLT-BT05 has no codes for the other rates, so it can't report them.
        let isKnown = dialect != "mlt-bt05" || [115_200, 57600, 38400, 19200].contains(rate)
        #expect(info.baudRate == (isKnown ? rate : nil))
    }

    @Test("name is set and read back after a restart", arguments: dialects)
    func name(dialect: String) throws {
        let rig = try module(dialect)
        let info = try rig.perform { setup throws(ModuleSetupError) in try await setup.setName("pump 1") }.get()
        #expect(info.name == "pump 1")
        #expect(try state(rig).name == "pump 1")
        #expect(rig.sent.contains { $0.hasPrefix("AT+RESET") })
    }

    @Test("baud is set and read back at the new rate", arguments: dialects)
    func baud(dialect: String) throws {
        let rig = try module(dialect)
        for rate in [115_200, 19200, 9600] {
            let info = try rig.perform { setup throws(ModuleSetupError) in try await setup.setBaudRate(rate) }.get()
            #expect(info.baudRate == rate && info.lineRate == rate)
            #expect(try state(rig).baudRate == rate)
        }
    }

    @Test("If a dialect is named, its probe is sent first", arguments: dialects)
    func namedDialect(dialect: String) throws {
        let rig = try module(dialect)
        let info = try rig.perform(dialect: dialect) { setup throws(ModuleSetupError) in try await setup.info() }.get()
        #expect(info.dialect == dialect)
        #expect(rig.sent.first == (dialect == "hm-10" ? "AT" : "AT\r\n"))
    }

    @Test("A module behind a server is queried at the line's rate, and its rate is not changed")
    func network() throws {
        let rig = try module("cc41-a")
        rig.isSerial = false
        let info = try rig.perform { setup throws(ModuleSetupError) in try await setup.info() }.get()
        #expect(info.dialect == "cc41-a" && info.lineRate == nil)
        let refused = try rig.perform { setup throws(ModuleSetupError) in try await setup.setBaudRate(19200) }
        #expect(try error(refused).code == .needsSerialPort)
        #expect(try state(rig).baudRate == 9600)
    }

    @Test("A rate that the adapter lacks is skipped")
    func missingRate() throws {
        let rig = try module("hm-10", baud: 57600)
        rig.missingRates = [115_200]
        let info = try rig.perform { setup throws(ModuleSetupError) in try await setup.info() }.get()
        #expect(info.lineRate == 57600)
        #expect(rig.opened == [9600, 115_200, 57600])
    }

    // MARK: Centrals

    @Test("A connected genuine module disconnects its central and is queried", arguments: [true, false])
    func connected(notifies: Bool) throws {
        var device = try #require(SimulatedModule(dialect: "hm-10", notifiesUART: notifies))
        let connect = try #require(SimulatedModule.verbs.first { $0.name == "connect" })
        try connect.perform(&device, Simulator.module.settings(), .zero)
        let rig = ModuleRig(device)
        let info = try rig.perform { setup throws(ModuleSetupError) in try await setup.info() }.get()
        #expect(info.name == "HMSoft")
        #expect(try !state(rig).isConnected)
        // A module that does not report at its UART disconnects its central without a line.
        #expect(rig.reports.contains(.disconnectedCentral) == notifies)
    }

    @Test("A connected clone does not answer at any rate")
    func connectedClone() throws {
        var device = try #require(SimulatedModule(dialect: "cc41-a"))
        device.connect(at: .zero)
        let rig = ModuleRig(device)
        let failure = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.info() })
        #expect(failure.code == .noAnswer && failure.outcome == .notSent)
        // All rates of a search, see `ModuleRig.perform`.
        #expect(failure.rates.count == 9 && failure.rates == rig.opened)
        #expect(try state(rig).isConnected)
    }

    // MARK: Other devices

    @Test(
        "A pump ends the search at its first reply, and its state does not change",
        arguments: [nil] + dialects.map(Optional.some),
        [true, false])
    func pump(dialect: String?, isRunning: Bool) throws {
        var pump = PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34), potentiometer: 716))
        if isRunning { pump.receive(Array("ON\n".utf8), at: .zero) }
        _ = pump.advance(to: .seconds(3))
        let duty = pump.duty
        let rig = ModuleRig(pump)
        rig.loop.run(for: .seconds(3))
        let failure = try error(
            rig.perform(dialect: dialect) { setup throws(ModuleSetupError) in try await setup.setName("x") })
        #expect(failure.code == .otherDevice && failure.family == "pump" && failure.outcome == .notSent)
        #expect(rig.opened == [9600])
        #expect(rig.sent.allSatisfy { ["AT", "\r\n", "AT\r\n"].contains($0) })
        rig.loop.run(for: .seconds(10))
        let after = try #require(rig.device as? PumpFirmware)
        #expect(after.duty == duty && after.state == (isRunning ? .on : .off))
    }

    @Test("A pump that is reset on opening is awaited and recognised")
    func startingPump() throws {
        let rig = ModuleRig(PumpFirmware())
        rig.resets = true
        let failure = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.info() })
        #expect(failure.code == .otherDevice && failure.family == "pump")
        #expect(rig.opened == [9600])
    }

    @Test("A module that is reset on opening, and listens after 7 s, is awaited", arguments: [nil, "mlt-bt05"])
    func startingModule(dialect: String?) throws {
        let rig = ModuleRig(LateTalker())
        rig.resets = true
        let info = try rig.perform(dialect: dialect) { setup throws(ModuleSetupError) in try await setup.info() }.get()
        #expect(info.dialect == "mlt-bt05" && rig.opened == [9600])
    }

    @Test(
        "A search at any rate contains no command for a pump at 9600 baud",
        arguments: [9600, 115_200, 57600, 38400, 19200, 4800, 2400, 1200, 230_400])
    func garbled(rate: Int) throws {
        var pump = PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34), potentiometer: 716))
        pump.receive(Array("ON\n".utf8), at: .zero)
        _ = pump.advance(to: .seconds(3))
        let duty = pump.duty
        var now = Duration.seconds(3)
        // First the probes, which are sent before the module has replied, then the queries, which are sent after a
        // reply; and all of them in reverse order.
        let texts = [
            "AT", "\r\n", "AT", "\r\n", "AT\r\n", "AT\r\n", "AT+VERS?", "AT+VERSION\r\n", "AT+NAME?", "AT+NAME\r\n",
            "AT+BAUD?",
            "AT+BAUD\r\n", "AT+ROLE?", "AT+ROLE\r\n", "AT+ADDR?", "AT+LADDR\r\n", "AT+RESET", "AT+RESET\r\n", "\r\n",
        ]
        for text in texts + texts.reversed() {
            pump.receive(GarbledLine.received(Array(text.utf8), from: rate, at: 9600), at: now)
            now += .milliseconds(500)
            let said = String(decoding: pump.advance(to: now).flatMap(\.bytes), as: UTF8.self)
            for answer in ["OK", "PUMP:", "SPEED:"] { #expect(!said.contains(answer), "\(rate): \(text): \(said)") }
        }
        #expect(pump.state == .on && pump.duty == duty)
    }

    @Test("Without a module all rates are tried")
    func nobody() throws {
        let rig = ModuleRig(Silence())
        let failure = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.info() })
        #expect(failure.code == .noAnswer)
        #expect(rig.opened.count == 9)
        #expect(rig.loop.now < .seconds(30))
    }

    @Test("An unknown module is not changed unless its dialect is named")
    func unknownModule() throws {
        let rig = ModuleRig(Talker { $0 == "AT" ? "OK" : $0 == "AT+NAME?" ? "OK+NAME:x" : nil })
        let failure = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.setName("pump1") })
        #expect(failure.code == .unknownModule && failure.outcome == .notSent)
        #expect(!rig.sent.contains { $0.hasPrefix("AT+NAMEpump1") })
        let info = try rig.perform(dialect: "hm-10") { setup throws(ModuleSetupError) in try await setup.info() }.get()
        #expect(info.name == "x" && info.version == nil && info.baudRate == nil)
    }

    // MARK: Refused settings

    @Test(
        "An invalid module name is not sent",
        arguments: [
            ("", "hm-10"), ("thirteenbytes", "hm-10"), ("nineteen characters", "mlt-bt05"), ("a\nON\n", "cc41-a"),
            ("?", "hm-10"),
            ("Pümpe", "cc41-a"), (" pump", "hm-10"), ("pump ", "hm-10"), (String(repeating: "n", count: 30), "cc41-a"),
        ])
    func wrongName(name: String, dialect: String) throws {
        let rig = try module(dialect)
        let failure = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.setName(name) })
        #expect(failure.code == .invalidName && failure.outcome == .notSent)
        #expect(!rig.sent.contains { $0.hasPrefix("AT+NAME") })
    }

    @Test(
        "A baud rate that the module lacks or cannot be reset from is not sent",
        arguments: [
            // At 1200 baud, an HM-10 takes no more commands after its next power-on.
            ("hm-10", 1200), ("hm-10", 300), ("mlt-bt05", 4800), ("cc41-a", 460_800),
        ])
    func wrongRate(dialect: String, rate: Int) throws {
        let rig = try module(dialect)
        let failure = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.setBaudRate(rate) })
        #expect(failure.code == .unsupportedRate && failure.outcome == .notSent)
        #expect(failure.rates.contains(9600) && !failure.rates.contains(rate))
        #expect(try state(rig).baudRate == 9600)
    }

    @Test("A refused change is reported as refused")
    func refused() throws {
        let rig = ModuleRig(
            Talker(end: "\r\n") {
                switch $0 {
                case "AT": "OK\r\n"
                case "AT+VERSION": "MLT-BT05-V4.4\r\n"
                default: "ERROR\r\n"
                }
            })
        let failure = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.setName("pump1") })
        #expect(failure.code == .refused && failure.answer == "ERROR" && failure.outcome == .nothingChanged)
    }

    @Test("A change that is confirmed but not made is reported as unconfirmed")
    func notTaken() throws {
        let rig = ModuleRig(
            Talker {
                switch $0 {
                case "AT": "OK"
                case "AT+VERS?": "HMSoft V540"
                case "AT+NAME?": "OK+NAME:HMSoft"
                case "AT+BAUD?": "OK+Get:0"
                default: "OK+Set:" + $0.dropFirst("AT+NAME".count)
                }
            })
        let name = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.setName("pump1") })
        #expect(name.code == .notConfirmed && name.answer == "HMSoft" && name.outcome == .unknown)
        let baud = try error(rig.perform { setup throws(ModuleSetupError) in try await setup.setBaudRate(19200) })
        #expect(baud.code == .notConfirmed && baud.outcome == .unknown)
    }
}

/// A device that sends nothing.
private struct Silence: SimulatedDevice {
    mutating func receive(_ bytes: [UInt8], at instant: Duration) {}
    mutating func advance(to instant: Duration) -> [Emission] { [] }
    var nextActivity: Duration? { nil }
    var isQuiescent: Bool { true }
    mutating func reset(at instant: Duration) {}
}

/// A clone of a module behind a board that starts for 7 s.
private struct LateTalker: SimulatedDevice {
    private var module = Talker(end: "\r\n") { ["AT": "OK\r\n", "AT+VERSION": "MLT-BT05-V4.4\r\n"][$0] }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        if instant >= .seconds(7) { module.receive(bytes, at: instant) }
    }

    mutating func advance(to instant: Duration) -> [Emission] { module.advance(to: instant) }
    var nextActivity: Duration? { module.nextActivity }
    var isQuiescent: Bool { module.isQuiescent }
    mutating func reset(at instant: Duration) {}
}

/// A device at 9600 baud that replies to each received text: to each text that ends with `end`, or if that is empty, to
/// each write.
private struct Talker: SimulatedDevice {
    var end = ""
    let answer: @Sendable (String) -> String?
    private var heard = ""
    private var emissions: [Emission] = []

    init(end: String = "", _ answer: @escaping @Sendable (String) -> String?) {
        self.end = end
        self.answer = answer
    }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        heard += String(decoding: bytes, as: UTF8.self)
        guard heard.hasSuffix(end) else { return }
        // "\r\n" is one Character.
        let text = answer(String(heard.dropLast(end.isEmpty ? 0 : 1)))
        heard = ""
        if let text { emissions.append(Emission(bytes: Array(text.utf8), time: instant + .milliseconds(20))) }
    }

    mutating func advance(to instant: Duration) -> [Emission] {
        defer { emissions.removeAll { $0.time <= instant } }
        return emissions.filter { $0.time <= instant }
    }

    var nextActivity: Duration? { emissions.first?.time }
    var isQuiescent: Bool { emissions.isEmpty }
    mutating func reset(at instant: Duration) {}
}
