import BlueZ
import FirmwareSim
import ModuleDialects
import PeripheralSim
import Testing

@Suite("An HM-10 on a device's UART")
struct HM10ModuleTests {
    /// A device that prints given text byte by byte, at the rate of its line, and records its input.
    private struct Printer: SimulatedDevice {
        var printed: [Emission] = []
        var received: [(text: String, time: Duration)] = []

        mutating func print(_ text: String, at start: Duration, rate: LineRate = .baud(9600)) {
            for (index, byte) in text.utf8.enumerated() {
                printed.append(Emission(bytes: [byte], time: start + rate.timePerByte * (index + 1)))
            }
        }

        mutating func receive(_ bytes: [UInt8], at instant: Duration) {
            received.append((String(decoding: bytes, as: UTF8.self), instant))
        }

        mutating func advance(to instant: Duration) -> [Emission] {
            defer { printed.removeAll { $0.time <= instant } }
            return printed.filter { $0.time <= instant }
        }

        var nextActivity: Duration? { printed.map(\.time).min() }
        var isQuiescent: Bool { printed.isEmpty }
        mutating func reset(at instant: Duration) { printed = [] }
    }

    /// A module on the UART of a ``Printer``, by default with a central from the beginning.
    private func module(isConnected: Bool = true, _ prepare: (inout Printer) -> Void) -> HM10Module<Printer> {
        var printer = Printer()
        prepare(&printer)
        var module = HM10Module(printer)
        if isConnected { module.take(.connected, at: .zero) }
        return module
    }

    private func texts(_ emissions: [Emission]) -> [String] {
        emissions.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private static let byteTime = LineRate.baud(9600).timePerByte

    /// A device with an unread byte that calls for no reply, such as the LF of a command that its CR has ended.
    private struct Reader: SimulatedDevice {
        mutating func receive(_ bytes: [UInt8], at instant: Duration) {}
        mutating func advance(to instant: Duration) -> [Emission] { [] }
        var nextActivity: Duration? { nil }
        var isQuiescent: Bool { false }
        var owesReply: Bool { false }
        mutating func reset(at instant: Duration) {}
    }

    @Test("A module with nothing to notify owes a reply only if its device does")
    func owesReply() {
        let module = HM10Module(Reader())
        #expect(!module.isQuiescent && !module.owesReply)
    }

    @Test("The module offers FFE0 with FFE1")
    func description() {
        let offered = HM10Module(PumpFirmware(), name: "Pump 7").offered
        #expect(offered.name == "Pump 7")
        #expect(offered.services.map(\.uuid) == ["FFE0"])
        #expect(offered.services[0].characteristics.map(\.uuid) == ["FFE1"])
        #expect(offered.services[0].characteristics[0].flags == [.read, .writeWithoutResponse, .notify])
    }

    @Test("20 bytes are notified at once, and the rest when the UART is silent")
    func packets() {
        let text = "STATUS:{State:ON,Speed:70%,Runtime:5m}\r\n"
        var module = module { $0.print(text, at: .zero) }
        let emissions = module.advance(to: .seconds(1))
        #expect(texts(emissions) == ["STATUS:{State:ON,Spe", "ed:70%,Runtime:5m}\r\n"])
        #expect(emissions.allSatisfy { $0.characteristic == "FFE1" })
        #expect(emissions.map(\.time) == [Self.byteTime * 20, Self.byteTime * 40])
        var shorter = self.module { $0.print("OK\r\n", at: .zero) }
        // The module sends what it has after 6 ms of silence.
        #expect(shorter.advance(to: .seconds(1)).map(\.time) == [Self.byteTime * 4 + .milliseconds(6)])
        #expect(shorter.isQuiescent)
    }

    @Test("Lines printed together are joined, and a later one is separate")
    func joining() {
        var module = module {
            $0.print("OK\r\nPUMP:ON\r\n", at: .zero)
            $0.print("MANUAL:OFF\r\n", at: .milliseconds(50))
        }
        #expect(texts(module.advance(to: .seconds(1))) == ["OK\r\nPUMP:ON\r\n", "MANUAL:OFF\r\n"])
    }

    @Test("The module sends the same at any step", arguments: [1, 7, 40, 1000])
    func steps(milliseconds: Int) {
        func pump() -> HM10Module<PumpFirmware> {
            let options = PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34), potentiometer: 716)
            var module = HM10Module(PumpFirmware(options: options))
            module.take(.connected, at: .zero)
            module.take(.wrote(Array("ON\n".utf8), to: "FFE1", mtu: 23), at: .zero)
            return module
        }
        var (whole, stepped) = (pump(), pump())
        let all = whole.advance(to: .seconds(20))
        #expect(all.allSatisfy { (1...20).contains($0.bytes.count) })
        #expect(texts(all).joined().hasPrefix("OK\r\nPUMP:ON\r\nSTATUS:{State:ON,"))
        var emissions: [Emission] = []
        for step in stride(from: 0, through: 20_000, by: milliseconds) {
            emissions += stepped.advance(to: .milliseconds(step))
        }
        #expect(emissions == all)
    }

    @Test("Output without a central is lost")
    func nobody() {
        var module = module(isConnected: false) {
            $0.print("lost\r\n", at: .zero)
            $0.print("cut off\r\n", at: .milliseconds(100))
            $0.print("heard\r\n", at: .milliseconds(200))
        }
        // The central connects in the middle of a line.
        module.take(.connected, at: .milliseconds(100) + Self.byteTime * 4)
        #expect(texts(module.advance(to: .seconds(1))) == ["off\r\n", "heard\r\n"])
        module.device.print("and gone", at: .seconds(1))
        module.take(.disconnected, at: .seconds(1) + Self.byteTime * 3)
        module.take(.connected, at: .seconds(2))
        #expect(module.advance(to: .seconds(3)).isEmpty)
    }

    @Test("Output is sent while at least one central is connected")
    func twoCentrals() {
        var module = module { $0.print("heard", at: .milliseconds(10)) }
        module.take(.connected, at: .zero)
        module.take(.disconnected, at: .zero)
        #expect(texts(module.advance(to: .seconds(1))) == ["heard"])
    }

    @Test("A central's write reaches the device")
    func writing() {
        var module = module { _ in }
        module.take(.wrote(Array("SPEED:200\n".utf8), to: "FFE1", mtu: 23), at: .milliseconds(5))
        #expect(module.device.received.map(\.text) == ["SPEED:200\n"])
        #expect(module.device.received.map(\.time) == [.milliseconds(5)])
    }

    @Test("The module answers the device's commands while no central is connected")
    func commands() {
        var idle = module(isConnected: false) {
            $0.print("AT", at: .zero)
            $0.print("AT+BAUD?", at: .milliseconds(100))
            // An HM-10 ignores commands with a line end, and in lower case.
            $0.print("AT\r\n", at: .milliseconds(200))
            $0.print("at", at: .milliseconds(300))
        }
        #expect(idle.advance(to: .seconds(1)).isEmpty)
        #expect(idle.device.received.map(\.text) == ["OK", "OK+Get:0"])
        #expect(idle.device.received[0].time == Self.byteTime * 2 + .milliseconds(6))
    }

    @Test("With a central commands are data, except for a bare AT, which disconnects")
    func commandsWhileConnected() {
        var busy = module {
            $0.print("AT+BAUD?", at: .zero)
            $0.print("AT", at: .milliseconds(100))
        }
        let emissions = busy.advance(to: .seconds(1))
        #expect(texts(emissions) == ["AT+BAUD?"])
        #expect(busy.takeCarrierEvents().map(\.action) == [.hangUp])
        #expect(busy.device.received.isEmpty)
    }

    @Test("With notices on, the device gets the first connect and the last disconnect", arguments: ["hm-10", "cc41-a"])
    func notices(dialect: String) throws {
        let dialect = try #require(ModuleDialect.named(dialect))
        var module = HM10Module(Printer(), dialect, name: "Pump", notifiesUART: true)
        module.take(.connected, at: .zero)
        module.take(.connected, at: .milliseconds(1))
        module.take(.disconnected, at: .milliseconds(2))
        module.take(.disconnected, at: .milliseconds(3))
        #expect(module.advance(to: .seconds(1)).isEmpty)
        let end = dialect.lineEnd
        #expect(module.device.received.map(\.text) == ["OK+CONN" + end, "OK+LOST" + end])
        var silent = HM10Module(Printer(), dialect, name: "Pump")
        silent.take(.connected, at: .zero)
        #expect(silent.device.received.isEmpty)
    }

    @Test("The module answers in its dialect and keeps the device's settings")
    func dialects() {
        var printer = Printer()
        printer.print("AT+NOTI1\r\n", at: .zero)
        printer.print("AT+NAME\r\n", at: .milliseconds(100))
        var module = HM10Module(printer, .cc41a, name: "Pump 7")
        _ = module.advance(to: .seconds(1))
        module.take(.connected, at: .seconds(1))
        #expect(
            module.device.received.map(\.text) == ["+NOTI=1\r\nOK\r\n", "+NAME=Pump 7\r\n", "OK+CONN\r\n"])
    }
}
