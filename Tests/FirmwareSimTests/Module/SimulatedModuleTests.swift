import DescriptorIO
import FirmwareSim
import TestSupport
import Testing

@Suite("The BLE module's UART")
struct SimulatedModuleTests {
    /// Sends the texts one second apart; returns the module's reply to each.
    private func say(_ texts: String..., to module: inout SimulatedModule, from start: Duration = .zero) -> [String] {
        texts.enumerated().map { index, text in
            module.receive(Array(text.utf8), at: start + .seconds(index))
            let said = module.advance(to: start + .seconds(index + 1)).filter { $0.output == nil }
            return String(decoding: said.flatMap(\.bytes), as: UTF8.self)
        }
    }

    /// The notifications among the emissions.
    private func notified(_ emissions: [Emission]) -> [String] {
        emissions.filter { $0.output == SimulatedModule.notificationOutput }
            .map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private static let byteTime = LineRate.baud(9600).timePerByte

    /// Commands with their replies, in each dialect.
    private static let commands: [(dialect: String, command: String, answer: String)] = [
        ("hm-10", "AT", "OK"), ("hm-10", "AT+VERS?", "HMSoft V540"), ("hm-10", "AT+NAME?", "OK+NAME:HMSoft"),
        ("hm-10", "AT+BAUD?", "OK+Get:0"), ("hm-10", "AT+ROLE?", "OK+Get:0"), ("hm-10", "AT+NOTI?", "OK+Get:0"),
        ("hm-10", "AT+ADDR?", "OK+ADDR:001583000010"), ("hm-10", "AT+NAMEpump1", "OK+Set:pump1"),
        ("hm-10", "AT+BAUD4", "OK+Set:4"), ("hm-10", "AT+NOTI1", "OK+Set:1"), ("hm-10", "AT+RESET", "OK+RESET"),
        ("hm-10", "AT+NAMEthirteenbytes", "OK+Set:thirteenbyte"),
        ("hm-10", "AT\r\n", ""), ("hm-10", "at", ""), ("hm-10", "AT+BAUD9", ""), ("hm-10", "STATUS\n", ""),
        ("cc41-a", "AT\r\n", "OK\r\n"), ("cc41-a", "AT+VERSION\r\n", "+VERSION=Firmware V3.0.6,Bluetooth V4.0 LE\r\n"),
        ("cc41-a", "AT+NAME\r\n", "+NAME=BT05\r\n"), ("cc41-a", "AT+BAUD\r\n", "+BAUD=4\r\n"),
        ("cc41-a", "AT+ROLE\r\n", "+ROLE=0\r\n"), ("cc41-a", "AT+LADDR\r\n", "+LADDR=00:15:83:00:00:10\r\n"),
        ("cc41-a", "AT+NOTI\r\n", "+NOTI=0\r\n"), ("cc41-a", "AT+NOTI1\r\n", "+NOTI=1\r\nOK\r\n"),
        ("cc41-a", "AT+NAMEpump1\r\n", "+NAME=pump1\r\nOK\r\n"), ("cc41-a", "AT+BAUD8\r\n", "+BAUD=8\r\nOK\r\n"),
        ("cc41-a", "AT+RESET\r\n", "+RESET\r\nOK\r\n"), ("cc41-a", "AT+BAUD0\r\n", "ERROR=102\r\n"),
        ("cc41-a", "AT", ""), ("cc41-a", "AT+NAME?\r\n", "+NAME=?\r\nOK\r\n"),
        ("mlt-bt05", "AT\r\n", "OK\r\n"), ("mlt-bt05", "AT+VERSION\r\n", "MLT-BT05-V4.4\r\n"),
        ("mlt-bt05", "AT+NAME\r\n", "+NAME=MLT-BT05\r\n"), ("mlt-bt05", "AT+BAUD\r\n", "+BAUD=4\r\n"),
        ("mlt-bt05", "AT+NAMEpump1\r\n", "+NAME=pump1\r\nOK\r\n"), ("mlt-bt05", "AT+BAUD0\r\n", "+BAUD=0\r\nOK\r\n"),
        ("mlt-bt05", "AT+BAUD8\r\n", "ERROR\r\n"), ("mlt-bt05", "AT+NOTI1\r\n", "ERROR\r\n"),
    ]

    @Test("A module answers each command in its dialect", arguments: commands)
    func answers(row: (dialect: String, command: String, answer: String)) throws {
        var module = try #require(SimulatedModule(dialect: row.dialect))
        #expect(say(row.command, to: &module) == [row.answer])
        #expect(module.isQuiescent)
    }

    @Test("A command ends with silence or CR LF, depending on the dialect")
    func commandEnds() throws {
        var genuine = try #require(SimulatedModule(dialect: "hm-10"))
        for (index, byte) in "AT+NAME?".utf8.enumerated() {
            genuine.receive([byte], at: .milliseconds(5 * index))
        }
        #expect(genuine.advance(to: .seconds(1)).flatMap(\.bytes) == Array("OK+NAME:HMSoft".utf8))
        // Letters that are typed slowly count as a command each.
        #expect(say("A", "T", to: &genuine, from: .seconds(1)) == ["", ""])
        var clone = try #require(SimulatedModule(dialect: "cc41-a"))
        #expect(say("A", "T", "\r", "\n", to: &clone) == ["", "", "", "OK\r\n"])
    }

    @Test("A setting is kept and takes effect at the dialect's time")
    func settings() throws {
        var genuine = try #require(SimulatedModule(dialect: "hm-10"))
        #expect(say("AT+BAUD4", "AT+BAUD?", to: &genuine) == ["OK+Set:4", "OK+Get:4"])
        #expect(genuine.baudRate == 9600)
        _ = say("AT+NAMEpump1", "AT+RESET", to: &genuine, from: .seconds(2))
        #expect(genuine.baudRate == 115_200 && genuine.name == "pump1")
        var clone = try #require(SimulatedModule(dialect: "cc41-a"))
        _ = say("AT+BAUD8\r\n", to: &clone)
        #expect(clone.baudRate == 115_200)
        clone.reset(at: .seconds(1))
        #expect(clone.advance(to: .seconds(2)).isEmpty)
        #expect(say("AT+BAUD\r\n", to: &clone, from: .seconds(3)) == ["+BAUD=8\r\n"])
    }

    @Test("The reply comes at the old baud rate, later output at the new one")
    func rates() throws {
        var module = try #require(SimulatedModule(dialect: "cc41-a"))
        module.receive(Array("AT+BAUD8\r\n".utf8), at: .zero)
        let answer = module.advance(to: .seconds(1))
        #expect(answer.flatMap(\.bytes) == Array("+BAUD=8\r\nOK\r\n".utf8))
        // The command has 10 bytes, and the reply 13.
        #expect(answer.last?.time == Self.byteTime * 10 + Self.byteTime * 13)
        module.receive(Array("AT\r\n".utf8), at: .seconds(1))
        let quick = module.advance(to: .seconds(2))
        #expect(quick.last?.time == .seconds(1) + LineRate.baud(115_200).timePerByte * 8)
    }

    @Test("A restarting module hears nothing for half a second")
    func restart() throws {
        var module = try #require(SimulatedModule(dialect: "hm-10"))
        module.receive(Array("AT+RESET".utf8), at: .zero)
        module.receive(Array("AT".utf8), at: .milliseconds(300))
        #expect(module.advance(to: .milliseconds(600)).flatMap(\.bytes) == Array("OK+RESET".utf8))
        #expect(say("AT", to: &module, from: .milliseconds(600)) == ["OK"])
    }

    // MARK: Centrals

    @Test(
        "A connected module passes bytes both ways, in packets of 20",
        arguments: ["hm-10", "cc41-a"])
    func data(dialect: String) throws {
        var module = try #require(SimulatedModule(dialect: dialect))
        module.write(Array("lost".utf8), at: .zero)
        module.connect(at: .zero)
        module.receive(Array("STATUS:{State:ON,Speed:70%}\r\n".utf8), at: .zero)
        let packets = module.advance(to: .seconds(1))
        #expect(notified(packets) == ["STATUS:{State:ON,Spe", "ed:70%}\r\n"])
        // A packet leaves when it has 20 bytes, or after 6 ms without another byte.
        #expect(packets.map(\.time) == [Self.byteTime * 20, Self.byteTime * 29 + .milliseconds(6)])
        module.write(Array("STATUS\n".utf8), at: .seconds(1))
        let written = module.advance(to: .seconds(2))
        #expect(written.map(\.output) == [nil])
        #expect(written.flatMap(\.bytes) == Array("STATUS\n".utf8))
        // While a central is connected, commands are data.
        module.receive(Array("AT+NAME?\r\n".utf8), at: .seconds(2))
        #expect(notified(module.advance(to: .seconds(3))) == ["AT+NAME?\r\n"])
        module.disconnect(at: .seconds(3))
        let command = dialect == "hm-10" ? "AT" : "AT\r\n"
        #expect(say(command, to: &module, from: .seconds(3))[0].hasPrefix("OK"))
    }

    @Test(
        "With notices on, the module reports connects and disconnects on its UART",
        arguments: [("hm-10", ""), ("cc41-a", "\r\n")])
    func notices(dialect: String, end: String) throws {
        func heard(_ module: inout SimulatedModule, from start: Duration) -> String {
            module.connect(at: start)
            module.disconnect(at: start + .milliseconds(100))
            return String(decoding: module.advance(to: start + .seconds(1)).flatMap(\.bytes), as: UTF8.self)
        }
        var module = try #require(SimulatedModule(dialect: dialect))
        #expect(heard(&module, from: .zero) == "")
        _ = say("AT+NOTI1" + end, to: &module, from: .seconds(1))
        #expect(heard(&module, from: .seconds(2)) == "OK+CONN\(end)OK+LOST\(end)")
        var told = try #require(SimulatedModule(dialect: dialect, notifiesUART: true))
        #expect(heard(&told, from: .zero) == "OK+CONN\(end)OK+LOST\(end)")
        var silent = try #require(SimulatedModule(dialect: "mlt-bt05", notifiesUART: true))
        #expect(heard(&silent, from: .zero) == "")
    }

    @Test("A bare AT disconnects a genuine module, and is data for a clone")
    func hangUp() throws {
        var genuine = try #require(SimulatedModule(dialect: "hm-10"))
        genuine.connect(at: .zero)
        genuine.receive(Array("AT+".utf8), at: .zero)
        #expect(notified(genuine.advance(to: .seconds(1))) == ["AT+"])
        genuine.receive(Array("AT".utf8), at: .seconds(1))
        #expect(genuine.advance(to: .seconds(2)).isEmpty)
        #expect(genuine.takeCarrierEvents().map(\.action) == [.hangUp])
        #expect(genuine.isConnected)
        genuine.disconnect(at: .seconds(2))
        #expect(say("AT", to: &genuine, from: .seconds(3)) == ["OK"])
        var clone = try #require(SimulatedModule(dialect: "cc41-a"))
        clone.connect(at: .zero)
        clone.receive(Array("AT".utf8), at: .zero)
        #expect(notified(clone.advance(to: .seconds(1))) == ["AT"])
    }

    // MARK: Verbs

    @Test("The module's verbs play a central", .timeLimit(.minutes(5)))
    func playedCentral() async throws {
        let module = try #require(SimulatedModule(dialect: "hm-10", lineRate: .unlimited, notifiesUART: true))
        let host = DeviceHost(module, pace: .onDemand)
        let (far, near) = try DescriptorChannel.pair(on: .shared)
        await host.attach(near)
        let heard = far.receivedText()
        let handle = host.handle
        #expect(handle.verbs == ["advance", "central", "connect", "disconnect", "reset"])
        try await handle.perform("central", ["lost"])
        try await handle.perform("connect")
        #expect(try await heard.text(upTo: "CONN") == "OK+CONN")
        try await far.write(Array("hello".utf8))
        try await handle.perform("central", ["STATUS\n"])
        #expect(try await heard.text(upTo: "\n") == "STATUS\n")
        #expect(await handle.observe()["connected"] == .boolean(true))
        #expect(await handle.observe()["central_heard"] == .text("hello"))
        // A bare AT on the serial line makes a genuine module disconnect its central.
        try await far.write(Array("AT".utf8))
        #expect(try await heard.text(upTo: "LOST") == "OK+LOST")
        #expect(await handle.observe()["connected"] == .boolean(false))
        try await handle.perform("disconnect")
        try await far.write(Array("AT".utf8))
        #expect(try await heard.text(upTo: "OK") == "OK")
        await far.close()
    }

    @Test("The simulator of modules creates a module with the given options and dialect")
    func row() throws {
        let settings = try Simulator.module.settings(["dialect": "mlt-bt05", "name": "Bench", "baud": "19200"])
        let module = try #require(try Simulator.module.device(settings) as? SimulatedModule)
        #expect(module.name == "Bench" && module.baudRate == 19200)
        #expect(throws: SimulatorOptionError.self) { try Simulator.module.settings(["dialect": "hc-05"]) }
        #expect(SimulatedModule(dialect: "hc-05") == nil)
    }

    @Test("Faults apply to a module's line")
    func faults() throws {
        let settings = try Simulator.module.settings(["fault": "duplicate@always"])
        let module = try #require(SimulatedModule(dialect: "cc41-a"))
        var faulty = FaultyDevice(module, faults: settings.faults(), seed: 1)
        faulty.receive(Array("AT\r\n".utf8), at: .zero)
        #expect(faulty.advance(to: .seconds(1)).flatMap(\.bytes) == Array("OK\r\nOK\r\n".utf8))
    }
}
