import DescriptorIO
import DeviceTestKit
import FirmwareSim
import FoundationEssentials
import SerialPort
import TestSupport
import Testing

@Suite("Judging a host", .timeLimit(.minutes(3)))
struct HostJudgeTests {
    private let folder = TemporaryFolder()

    /// A judge of a pump's host by these rules, as an argument of `--expect`. The tests tell it what went over the
    /// line: `hear` takes bytes of the host, and whether the pump still had something to do or to send; `say` takes
    /// bytes of the pump.
    private static func judge(_ rules: String, rate: LineRate = .baud(9600)) throws -> HostJudge {
        HostJudge(
            try Simulator.pump.settings(["expect": rules]).expectations(), urgent: PumpFirmware.urgentCommands,
            lineRate: rate)
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("Two commands in flight are a finding, except for an OFF that overtakes")
    func oneInFlight() throws {
        var judge = try Self.judge("one-in-flight")
        judge.hear(Self.bytes("ON\n"), at: .seconds(1), isAnswering: false)
        judge.hear(Self.bytes("\nOFF\n"), at: .seconds(1), isAnswering: true)
        judge.hear(Self.bytes("TEMP\n"), at: .seconds(2), isAnswering: false)
        #expect(judge.verdict(at: .seconds(9)).hasPassed)
        judge.hear(Self.bytes("TEMP\nSTATUS\n"), at: .seconds(3), isAnswering: false)
        let verdict = judge.verdict(at: .seconds(9))
        #expect(verdict.count == 1 && verdict.findings[0].time == .seconds(3))
        #expect(verdict.findings[0].detail == "STATUS was sent before the last reply had ended")
    }

    @Test("After a repeated OFF one reply suffices to go on")
    func repeatedOff() throws {
        var judge = try Self.judge("one-in-flight")
        judge.hear(Self.bytes("OFF\n"), at: .seconds(1), isAnswering: false)
        judge.say(Self.bytes("OK\r\nPUMP:OFF\r\n"), at: .milliseconds(1100))
        judge.hear(Self.bytes("OFF\n"), at: .milliseconds(1500), isAnswering: false)
        judge.hear(Self.bytes("TEMP\n"), at: .milliseconds(1501), isAnswering: true)
        #expect(judge.verdict(at: .seconds(9)).hasPassed)
        // The exception covers neither later commands nor a single OFF.
        judge.hear(Self.bytes("STATUS\n"), at: .milliseconds(1502), isAnswering: true)
        judge.hear(Self.bytes("OFF\n"), at: .seconds(3), isAnswering: false)
        judge.hear(Self.bytes("TEMP\n"), at: .milliseconds(3001), isAnswering: true)
        #expect(judge.verdict(at: .seconds(9)).count == 2)
    }

    @Test("A command in pieces counts from its first byte")
    func half() throws {
        var judge = try Self.judge("one-in-flight")
        judge.hear(Self.bytes("ON\n"), at: .zero, isAnswering: false)
        judge.hear(Self.bytes("STA"), at: .seconds(1), isAnswering: true)
        judge.hear(Self.bytes("TUS\n"), at: .seconds(2), isAnswering: false)
        #expect(judge.verdict(at: .seconds(2)).findings.map(\.time) == [.seconds(1)])
    }

    @Test("Commands too close together are a finding")
    func pacing() throws {
        var judge = try Self.judge("pacing=200ms")
        for milliseconds in [0, 200, 399, 1000] {
            judge.hear(Self.bytes("TEMP\n"), at: .milliseconds(milliseconds), isAnswering: false)
        }
        #expect(judge.verdict(at: .seconds(2)).findings.map(\.time) == [.milliseconds(399)])
    }

    @Test("A missing or late reaction to a line is a finding")
    func reaction() throws {
        var judge = try Self.judge("reaction=5s/OFF@line:ERROR:OVERHEAT")
        judge.hear(Self.bytes("ON\n"), at: .zero, isAnswering: false)
        #expect(judge.verdict(at: .seconds(1)).untested == ["reaction=5s/OFF@line:ERROR:OVERHEAT"])
        judge.say(Self.bytes("ERROR:OVERHEAT\r\n"), at: .seconds(10))
        judge.hear(Self.bytes("STATUS\n"), at: .seconds(11), isAnswering: false)
        judge.hear(Self.bytes("off\n"), at: .seconds(14), isAnswering: false)
        #expect(judge.verdict(at: .seconds(100)).hasPassed)
        judge.say(Self.bytes("ERROR:OVER"), at: .seconds(100))
        judge.say(Self.bytes("HEAT\r\n"), at: .seconds(101))
        let early = judge.verdict(at: .seconds(103)).findings
        #expect(early.map(\.detail) == ["no such command was sent before the end"])
        let verdict = judge.verdict(at: .seconds(107))
        #expect(!verdict.hasPassed && verdict.findings.map(\.time) == [.seconds(101)])
    }

    @Test("A reaction before the end of the line counts")
    func earlyReaction() throws {
        var judge = try Self.judge("reaction=1s/OFF@line:ERROR")
        judge.hear(Self.bytes("OFF\n"), at: .zero, isAnswering: false)
        judge.say(Self.bytes("ERROR:OVERH"), at: .seconds(1))
        judge.hear(Self.bytes("OFF\n"), at: .seconds(1), isAnswering: true)
        judge.say(Self.bytes("EAT\r\n"), at: .seconds(2))
        #expect(judge.verdict(at: .seconds(9)).hasPassed)
        judge.say(Self.bytes("ERROR:OVERHEAT\r\n"), at: .seconds(9))
        #expect(judge.verdict(at: .seconds(11)).count == 1)
    }

    @Test("A flush during a reply is one finding, and closing the port is none")
    func closes() throws {
        var judge = try Self.judge("no-flush")
        judge.hear(Self.bytes("STATUS\n"), at: .zero, isAnswering: false)
        judge.flush(at: .seconds(1), isAnswering: true)
        judge.leave()
        #expect(judge.verdict(at: .seconds(1)).hasPassed)
        for _ in 0..<3 {
            judge.flush(at: .seconds(1), isAnswering: true)
            judge.say(Self.bytes("S"), at: .seconds(1))
        }
        #expect(judge.verdict(at: .seconds(1)).count == 1)
    }

    @Test("In real time too, a BLE write during the reply is early, and one after the reply is not")
    func writesInRealTime() async throws {
        let clock = HostClock()
        let host = DeviceHost(PumpFirmware(), pace: .realTime(clock), judge: try Self.judge("one-in-flight"))
        let running = Task { try await host.run() }
        await settle()
        func write(to host: isolated DeviceHost<PumpFirmware>) {
            // The host has not handled its alarms when the second write comes.
            for second in [1, 2, 2] {
                clock.advance(to: .seconds(second))
                let command = Self.bytes("STATUS\n")
                host.change(hearing: command) { pump, now in pump.receive(command, at: now) }
            }
        }
        await write(to: host)
        #expect(await host.verdict()?.findings.map(\.time) == [.seconds(2)])
        running.cancel()
    }

    @Test("Over BLE each write is a command and each notification a line")
    func packets() throws {
        var judge = try Self.judge("one-in-flight,reaction=1s@line:HELLO", rate: .unlimited)
        judge.say(Self.bytes("HELLO from x"), at: .zero, isPacket: true)
        judge.hear(Self.bytes("GET_LOG"), at: .milliseconds(500), isAnswering: false, isPacket: true)
        #expect(judge.verdict(at: .seconds(5)).count == 0)
        judge.hear(Self.bytes("GET_LOG"), at: .seconds(6), isAnswering: true, isPacket: true)
        #expect(judge.verdict(at: .seconds(7)).count == 1)
    }

    @Test(
        "Over BLE line ends around a write are not part of the command",
        arguments: ["\nOFF\n", "OFF\r\n", "off"])
    func packetLineEnds(write: String) throws {
        var judge = try Self.judge("one-in-flight,reaction=1s/OFF@line:ERROR", rate: .unlimited)
        judge.hear(Self.bytes("ON\n"), at: .zero, isAnswering: false, isPacket: true)
        judge.say(Self.bytes("ERROR:OVERHEAT\r\n"), at: .seconds(1), isPacket: true)
        judge.hear(Self.bytes(write), at: .seconds(1), isAnswering: true, isPacket: true)
        #expect(judge.verdict(at: .seconds(9)).count == 0)
        judge.hear(Self.bytes("\nTEMP\n"), at: .seconds(9), isAnswering: true, isPacket: true)
        #expect(
            judge.verdict(at: .seconds(9)).findings.map(\.detail) == ["TEMP was sent before the last reply had ended"])
    }

    @Test("A host at another baud rate is a finding")
    func baudRate() throws {
        var judge = try Self.judge("baud")
        judge.hear(Self.bytes("ON\n"), at: .zero, isAnswering: false, hostRate: 9600)
        #expect(judge.verdict(at: .zero).hasPassed)
        judge.hear(Self.bytes("ON\n"), at: .zero, isAnswering: false, hostRate: 115_200)
        #expect("\(judge.verdict(at: .zero))" == "at 0.000 s: baud: sent at 115200 baud; the device has 9600")
    }

    @Test(
        "An expectation that no command has tested is not passed",
        arguments: ["baud", "no-flush", "one-in-flight", "pacing=1s"])
    func untested(rule: String) throws {
        let verdict = try Self.judge(rule).verdict(at: .seconds(1))
        #expect(!verdict.hasPassed && verdict.untested == [rule])
        #expect("\(verdict)" == "\(rule): was not tested")
    }

    @Test("The rule meets is tested once its line arrives, or its two lines, one right after the other")
    func meets() throws {
        let rules = ["meets=line:STATUS:|MANUAL:", "meets=line:OK\nSTATUS:"]
        var judge = try Self.judge(rules.joined(separator: ","))
        judge.hear(Self.bytes("STATUS\nON\n"), at: .zero, isAnswering: false)
        judge.say(Self.bytes("OK\r\nPUMP:ON\r\n"), at: .seconds(1))
        #expect(judge.verdict(at: .seconds(1)).untested == rules)
        judge.say(Self.bytes("STATUS:{State:ON}\r\nOK\r\n"), at: .seconds(2))
        #expect(judge.verdict(at: .seconds(2)).untested == [rules[1]])
        judge.say(Self.bytes("STATUS:{State:ON}\r\n"), at: .seconds(3))
        #expect(judge.verdict(at: .seconds(3)).hasPassed)
    }

    @Test("Only the first findings are kept, but all are counted")
    func many() throws {
        var judge = try Self.judge("pacing=1s")
        for number in 0...250 { judge.hear(Self.bytes("TEMP\n"), at: .milliseconds(number), isAnswering: false) }
        let verdict = judge.verdict(at: .seconds(9))
        #expect(verdict.count == 250 && verdict.findings.count == 100)
        #expect("\(verdict)".hasSuffix("\nand 150 more"))
    }

    @Test("Each rule cites its public thread, and an invalid rule is refused")
    func rows() throws {
        for rule in HostRule.all {
            #expect(rule.source.hasPrefix("https://github.com/") && rule.help.hasSuffix("."))
        }
        for text in [
            "", "bogus", "baud=9600", "pacing", "pacing=0", "reaction=5s", "reaction=5s/@line:X",
            "reaction=5s@command:1",
            "baud,", "reaction=x@line:X", "commands=1", "repeats", "repeats=5s@line:X", "repeats=5s/OFF", "refrains",
            "refrains=@line:X", "refrains=ON", "refrains=ON/OFF@line:X", "meets", "meets=X", "meets=line:",
        ] {
            #expect(throws: SimulatorOptionError.self, "\(text)") { try Simulator.pump.settings(["expect": text]) }
        }
    }

    // MARK: Commands sent, repeated or missing

    /// A judge that also knows the protocol of `device`: its commands, and how they end.
    private static func judge<Device: SimulatedDevice>(_ rules: String, of device: Device) throws -> HostJudge {
        let settings = try Simulator.pump.settings(["expect": rules])
        return try #require(HostJudge(settings, of: device))
    }

    @Test(
        "A line that is not a pump command is a finding",
        arguments: [
            ("on", nil), ("SPEED:0", nil), ("speed:255", nil), ("SPEED:256", "is out of range: 0 to 255"),
            ("SPEED:+5", "has no plain decimal number"), ("SPEED:", "has no plain decimal number"),
            ("AT", "is not a command"),
            (" ON", "is not a command"), (String(repeating: "X", count: 64), "is longer than 63 bytes"),
        ] as [(String, String?)])
    func pumpCommands(line: String, objection: String?) throws {
        var judge = try Self.judge("commands", of: PumpFirmware())
        #expect(judge.verdict(at: .zero).untested == ["commands"])
        judge.hear(Self.bytes(line + "\r\n"), at: .seconds(1), isAnswering: false)
        #expect(judge.verdict(at: .seconds(1)).findings.map(\.detail) == objection.map { ["\(line) \($0)"] } ?? [])
        #expect(judge.verdict(at: .seconds(1)).untested.isEmpty)
    }

    @Test("Each family has its own commands, on a line and over BLE")
    func commands() {
        for (line, isOne) in [
            ("LED", true), ("LED:0", true), ("LED:1", true), ("led", false), ("LED:2", false), ("LED ", false),
        ] {
            #expect((LEDFirmware.objection(to: Self.bytes(line), isPacket: false) == nil) == isOne)
        }
        #expect(LEDFirmware.objection(to: [7], isPacket: true) == nil)
        #expect(LEDFirmware.objection(to: [7, 0], isPacket: true) == "is not one byte")
        #expect(StormFirmware.objection(to: Self.bytes("GET_LOG"), isPacket: true) == nil)
        #expect(StormFirmware.objection(to: Self.bytes("GET_LOG\n"), isPacket: true) == "is not GET_LOG")
        #expect(PeerFirmware.objection(to: [0xFF], isPacket: true) == nil)
    }

    @Test("Messages are separated by their braces, and text between them is a finding")
    func messages() throws {
        let good = String(decoding: PhoneStock(seed: 1).message(0).json, as: UTF8.self)
        var judge = try Self.judge("commands", of: RescueFirmware())
        judge.hear(Self.bytes(good.prefix(30) + ""), at: .zero, isAnswering: false, isPacket: true)
        judge.hear(Self.bytes(good.dropFirst(30) + "\n" + good), at: .seconds(1), isAnswering: false, isPacket: true)
        #expect(judge.verdict(at: .seconds(1)).hasPassed)
        judge.hear(Self.bytes("hello \(good)"), at: .seconds(2), isAnswering: false)
        for (text, other) in [("pending_sync", "lost"), ("Flooding", "Rain"), ("\"content\"", "\"text\"")] {
            judge.hear(Self.bytes(good.replacing(text, with: other)), at: .seconds(3), isAnswering: false)
        }
        let id = PhoneStock(seed: 1).message(0).id.uuidString
        judge.hear(Self.bytes(good.replacing(id, with: id.lowercased())), at: .seconds(4), isAnswering: false)
        let details = judge.verdict(at: .seconds(5)).findings.map(\.detail)
        let ends = [
            "hello is not a message", "has an unknown status", "has an unknown category",
            "is not a message", "has an id that is not an upper-case UUID",
        ]
        #expect(details.count == ends.count)
        for (detail, end) in zip(details, ends) { #expect(detail.hasSuffix(end), "\(detail)") }
    }

    @Test("A truncated message is a finding")
    func cutMessage() throws {
        let message = PhoneStock(seed: 1).message(0).json
        var judge = try Self.judge("commands", of: RescueFirmware())
        judge.hear(message + Array("\t".utf8) + message.dropLast(), at: .seconds(1), isAnswering: false)
        #expect(judge.verdict(at: .seconds(2)).findings.map(\.detail) == ["the last bytes are not a whole message"])
    }

    @Test("OFF must be repeated until it is acknowledged")
    func repeats() throws {
        let rule = "repeats=5s/OFF@line:PUMP:OFF"
        var judge = try Self.judge(rule)
        judge.hear(Self.bytes("OFF\n"), at: .zero, isAnswering: false)
        judge.say(Self.bytes("OK\r\nPUMP:OFF\r\n"), at: .seconds(1))
        #expect(judge.verdict(at: .seconds(9)).untested == [rule])
        judge.hear(Self.bytes("OFF\n"), at: .seconds(10), isAnswering: false)
        judge.say(Self.bytes("OK\r\n"), at: .seconds(11))
        #expect(judge.verdict(at: .seconds(12)).findings.map(\.time) == [.seconds(10)])
        judge.hear(Self.bytes("off\n"), at: .seconds(14), isAnswering: false)
        judge.say(Self.bytes("PUMP:OFF\r\n"), at: .seconds(15))
        #expect(judge.verdict(at: .seconds(99)).hasPassed)
        judge.hear(Self.bytes("OFF\n"), at: .seconds(100), isAnswering: false)
        judge.hear(Self.bytes("OFF\n"), at: .seconds(106), isAnswering: false)
        judge.say(Self.bytes("PUMP:OFF\r\n"), at: .seconds(107))
        #expect(judge.verdict(at: .seconds(200)).findings.map(\.time) == [.seconds(100)])
    }

    @Test("A status that says OFF ends the repetition too")
    func repeatsUntilStatus() throws {
        let rule = "repeats=5s/OFF@line:PUMP:OFF|STATUS:{State:OFF"
        var judge = try Self.judge(rule)
        judge.hear(Self.bytes("OFF\n"), at: .zero, isAnswering: false)
        judge.say(Self.bytes("STATUS:{State:ON,Speed:70%}\r\n"), at: .seconds(3))
        #expect(judge.verdict(at: .seconds(4)).findings.map(\.time) == [.zero])
        judge.say(Self.bytes("STATUS:{State:OFF}\r\n"), at: .seconds(4))
        #expect(judge.verdict(at: .seconds(99)).hasPassed)
    }

    @Test("After a line a forbidden command is a finding until OFF was sent")
    func refrains() throws {
        let rule = "refrains=ON@line:ERROR:OVERHEAT"
        var judge = try Self.judge(rule)
        judge.hear(Self.bytes("ON\n"), at: .zero, isAnswering: false)
        #expect(judge.verdict(at: .zero).untested == [rule])
        judge.say(Self.bytes("ERROR:OVERHEAT\r\n"), at: .seconds(1))
        judge.hear(Self.bytes("STATUS\nOFF\nON\n"), at: .seconds(2), isAnswering: false)
        #expect(judge.verdict(at: .seconds(2)).hasPassed)
        judge.say(Self.bytes("ERROR:OVERHEAT\r\n"), at: .seconds(3))
        judge.hear(Self.bytes("on\n"), at: .seconds(4), isAnswering: false)
        #expect(judge.verdict(at: .seconds(4)).findings.map(\.detail) == ["ON was sent anyway"])
    }

    @Test("A finding has the last 12 exchanges before it")
    func exchanges() throws {
        var judge = try Self.judge("commands", of: PumpFirmware())
        for number in 0..<20 {
            judge.hear(Self.bytes("TEMP\n"), at: .seconds(number), isAnswering: false)
            judge.say(Self.bytes("TEMP:\(number).0\r\n"), at: .seconds(number))
        }
        judge.hear(Self.bytes("FOO\n"), at: .seconds(20), isAnswering: false)
        judge.say(Self.bytes("ERROR\r\n"), at: .seconds(20))
        let verdict = judge.verdict(at: .seconds(21))
        #expect(verdict.findings[0].exchanges.count == 12 && verdict.exchanges.count == 12)
        #expect(verdict.findings[0].exchanges.suffix(2) == [.said(Self.bytes("TEMP:19.0")), .heard(Self.bytes("FOO"))])
        #expect(verdict.exchanges.last == .said(Self.bytes("ERROR")))
    }

    @Test("The first finding of each kind is kept, however many there are of another")
    func kinds() throws {
        var judge = try Self.judge("pacing=1s,refrains=ON@line:ERROR")
        for number in 0...250 { judge.hear(Self.bytes("TEMP\n"), at: .milliseconds(number), isAnswering: false) }
        judge.say(Self.bytes("ERROR\n"), at: .seconds(1))
        judge.hear(Self.bytes("ON\n"), at: .seconds(9), isAnswering: false)
        #expect(judge.verdict(at: .seconds(9)).findings.last?.expectation == "refrains=ON@line:ERROR")
    }

    // MARK: On a pseudo-terminal

    /// Waits for a condition that comes true once the kernel has passed something on through the terminal. The suite's
    /// time limit ends the wait.
    private static func until(_ isSo: () async -> Bool) async throws {
        while await !isSo() {
            try Task.checkCancellation()
            await settle()
        }
    }

    /// Returns the verdict on a host that uses the terminal of a pump. `body` plays the host; it gets a client, the
    /// served pump, and the terminal's path.
    private static func found(
        _ rules: String, by body: (HostClient, DeviceHost<PumpFirmware>, String) async throws -> Void
    ) async throws -> Verdict? {
        let options = PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5))
        let host = DeviceHost(PumpFirmware(options: options), pace: .onDemand, judge: try judge(rules))
        let server = try await PseudoTerminalServer.open(host)
        let client = try HostClient(terminal: server.path)
        await settle()
        try await body(client, host, server.path)
        await settle()
        let verdict = await host.verdict()
        await server.close()
        return verdict
    }

    @Test("A host that waits for each reply passes")
    func good() async throws {
        let verdict = try await Self.found("baud,no-flush,one-in-flight") { client, _, _ in
            for _ in 0..<2 {
                try client.say("TEMP\n")
                _ = try await client.hear(until: "\r\n")
            }
        }
        #expect(verdict?.hasPassed == true)
    }

    @Test("A host that leaves at once is judged by all that it sent", arguments: [false, true])
    func brief(overSocket: Bool) async throws {
        let host = DeviceHost(PumpFirmware(), pace: .onDemand, judge: try Self.judge("one-in-flight"))
        let path = folder.path("brief.sock")
        let terminal = overSocket ? nil : try await PseudoTerminalServer.open(host)
        let socket = overSocket ? try await SocketServer.open(host, at: .unix(path: path)) : nil
        // On the loop's thread, so that the server can't notice the host before the verdict is requested.
        let verdict = try await Task(executorPreference: EventLoop.shared) {
            let client = try terminal.map { try HostClient(terminal: $0.path) } ?? HostClient(atOnce: path)
            try client.say("TEMP\n")
            client.leave()
            return await host.verdict()
        }.value
        #expect(verdict?.exchanges.first == .heard(Array("TEMP".utf8)))
        await terminal?.close()
        await socket?.close()
    }

    @Test("A terminal at another baud rate is detected")
    func wrongRate() async throws {
        let verdict = try await Self.found("baud") { client, _, path in
            let port = try SerialPort(path: path, options: SerialOptions(baudRate: 115_200))
            try client.say("TEMP\n")
            _ = try await client.hear(until: "\r\n")
            await port.channel().close()
        }
        #expect(verdict?.findings.first?.detail == "sent at 115200 baud; the device has 9600")
    }

    @Test("A flush during a reply is detected, and one before the command is allowed")
    func flush() async throws {
        let verdict = try await Self.found("no-flush") { client, host, _ in
            client.flushInput()
            await settle()
            try client.say("TEMP\n")
            _ = try await client.hear(until: "\r\n")
        }
        #expect(verdict?.hasPassed == true)
        // The reply stays incomplete as long as the clock stands still.
        let host = DeviceHost(PumpFirmware(), pace: .realTime(HostClock()), judge: try Self.judge("no-flush"))
        let running = Task { try await host.run() }
        let server = try await PseudoTerminalServer.open(host)
        let client = try HostClient(terminal: server.path)
        await settle()
        try client.say("STATUS\n")
        try await Self.until { await host.verdict()?.exchanges.isEmpty == false }
        client.flushInput()
        try await Self.until { await host.verdict()?.findings.isEmpty == false }
        #expect(await host.verdict()?.findings.map(\.expectation) == ["no-flush"])
        await server.close()
        running.cancel()
    }
}
