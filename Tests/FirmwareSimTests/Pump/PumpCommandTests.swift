import Testing

@testable import FirmwareSim

@Suite("Pump commands")
struct PumpCommandTests {
    /// The text sent to a pump in a state, the text that it prints, and its state and duty afterwards.
    struct Exchange: CustomTestStringConvertible, Sendable {
        var state: PumpState
        var out: String
        var back: String
        var after: PumpState
        var duty: UInt8

        init(_ state: PumpState, _ out: String, _ back: String, _ after: PumpState, duty: UInt8 = 0) {
            self.state = state
            self.out = out
            self.back = back
            self.after = after
            self.duty = duty
        }

        var testDescription: String { "\(state.rawValue): \(out.debugDescription)" }
    }

    static let commands = [
        Exchange(.off, "ON\n", printed("OK", "PUMP:ON"), .on, duty: 180),
        Exchange(.on, "ON\n", printed("OK", "PUMP:ON"), .on, duty: 180),
        Exchange(.error, "ON\n", printed("ERROR:PUMP_START_FAILED"), .error),
        Exchange(.off, "OFF\n", printed("OK", "PUMP:OFF"), .off),
        Exchange(.on, "OFF\n", printed("OK", "PUMP:OFF"), .off),
        Exchange(.error, "OFF\n", printed("OK", "PUMP:OFF"), .off),
        Exchange(.on, "SPEED:200\n", printed("OK", "SPEED:200"), .on, duty: 200),
        Exchange(.on, "SPEED:255\n", printed("OK", "SPEED:255"), .on, duty: 255),
        Exchange(.on, "SPEED:0\n", printed("OK", "SPEED:0"), .on, duty: 0),
        Exchange(.on, "SPEED:256\n", printed("ERROR:INVALID_SPEED_VALUE"), .on, duty: 180),
        Exchange(.on, "SPEED:-1\n", printed("ERROR:INVALID_SPEED_VALUE"), .on, duty: 180),
        Exchange(.off, "SPEED:200\n", printed("ERROR:PUMP_NOT_RUNNING"), .off),
        Exchange(.off, "SPEED:256\n", printed("ERROR:INVALID_SPEED_VALUE"), .off),
        Exchange(.off, "SPEED:-1\n", printed("ERROR:INVALID_SPEED_VALUE"), .off),
        Exchange(.error, "SPEED:200\n", printed("ERROR:PUMP_NOT_RUNNING"), .error),
        Exchange(.error, "SPEED:300\n", printed("ERROR:INVALID_SPEED_VALUE"), .error),
        Exchange(.on, "SPEED:65736\n", printed("OK", "SPEED:200"), .on, duty: 200),
        Exchange(.off, "SPEED:65736\n", printed("ERROR:PUMP_NOT_RUNNING"), .off),
        Exchange(.on, "SPEED:abc\n", printed("OK", "SPEED:0"), .on, duty: 0),
        Exchange(.on, "SPEED:\n", printed("OK", "SPEED:0"), .on, duty: 0),
        Exchange(.on, "SPEED\n", printed("ERROR:UNKNOWN_COMMAND"), .on, duty: 180),
        Exchange(.off, "TEMP\n", printed("TEMP:{Water:12.0C,Skin:34.5C}"), .off),
        Exchange(.error, "TEMP\n", printed("TEMP:{Water:12.0C,Skin:34.5C}"), .error),
        Exchange(.off, "HELLO\n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.error, "HELLO\n", printed("ERROR:UNKNOWN_COMMAND"), .error),
    ]

    static let lines = [
        Exchange(.off, "ON\r", printed("OK", "PUMP:ON"), .on, duty: 180),
        Exchange(.off, "ON\r\n", printed("OK", "PUMP:ON"), .on, duty: 180),
        Exchange(.off, "\n\r\n\nON\n\n\n", printed("OK", "PUMP:ON"), .on, duty: 180),
        Exchange(.off, "\n", "", .off),
        Exchange(.off, "\r\n", "", .off),
        Exchange(.off, "ON", "", .off),
        Exchange(.off, "oN\n", printed("OK", "PUMP:ON"), .on, duty: 180),
        Exchange(.on, "off\n", printed("OK", "PUMP:OFF"), .off),
        Exchange(.on, "speed:7\n", printed("OK", "SPEED:7"), .on, duty: 7),
        Exchange(.off, "Temp\n", printed("TEMP:{Water:12.0C,Skin:34.5C}"), .off),
        Exchange(.off, " ON\n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.off, "ON \n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.off, "\tON\n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.off, " \n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.on, " SPEED:1\n", printed("ERROR:UNKNOWN_COMMAND"), .on, duty: 180),
        Exchange(.on, "SPEED :1\n", printed("ERROR:UNKNOWN_COMMAND"), .on, duty: 180),
        Exchange(.off, "ONOFF\n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.off, "ON\0OFF\n", printed("OK", "PUMP:ON"), .on, duty: 180),
        Exchange(.off, "ON\0\n", printed("OK", "PUMP:ON"), .on, duty: 180),
        Exchange(.on, "SPEED:12\03\n", printed("OK", "SPEED:12"), .on, duty: 12),
        Exchange(.off, "\0\n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.off, "\0ON\n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.off, "öN\n", printed("ERROR:UNKNOWN_COMMAND"), .off),
    ]

    static let lengths = [
        Exchange(.off, String(repeating: "X", count: 63) + "\n", printed("ERROR:UNKNOWN_COMMAND"), .off),
        Exchange(.off, String(repeating: "X", count: 64), printed("ERROR:CMD_TOO_LONG"), .off),
        Exchange(.off, String(repeating: "X", count: 64) + "\n", printed("ERROR:CMD_TOO_LONG"), .off),
        Exchange(
            .off, String(repeating: "X", count: 70) + "\n", printed("ERROR:CMD_TOO_LONG", "ERROR:UNKNOWN_COMMAND"),
            .off),
        Exchange(
            .off, String(repeating: "X", count: 64) + "ON\n", printed("ERROR:CMD_TOO_LONG", "OK", "PUMP:ON"), .on,
            duty: 180),
        Exchange(
            .off, String(repeating: "X", count: 63) + "ON\n", printed("ERROR:CMD_TOO_LONG", "ERROR:UNKNOWN_COMMAND"),
            .off),
        Exchange(
            .on, "SPEED:" + String(repeating: "0", count: 54) + "200\n", printed("OK", "SPEED:200"), .on, duty: 200),
    ]

    @Test("A command gets its reply and nothing else", arguments: commands)
    func command(_ exchange: Exchange) {
        expect(exchange)
    }

    @Test("Lines end with CR or LF and are matched in any case, untrimmed", arguments: lines)
    func line(_ exchange: Exchange) {
        expect(exchange)
    }

    @Test("The 64th byte of a line discards the line so far", arguments: lengths)
    func length(_ exchange: Exchange) {
        expect(exchange)
    }

    /// Plays an exchange, and expects that the pump prints nothing more in the next turns.
    private func expect(_ exchange: Exchange) {
        var bench = PumpBench()
        bench.bring(to: exchange.state)
        #expect(bench.exchangeInPieces(exchange.out) == exchange.back)
        #expect(bench.run(for: .milliseconds(300)) == "")
        #expect(bench.pump.state == exchange.after)
        #expect(bench.pump.duty == exchange.duty)
        #expect(bench.pump.isEnabled == (exchange.after == .on))
        #expect(bench.pump.receiveOverflows == 0)
    }

    @Test("Older firmware ends its lines with LF only")
    func bareLineFeed() {
        var bench = PumpBench(PumpFirmwareOptions(lineRate: .unlimited, lineEnding: .lineFeed))
        #expect(bench.exchange("ON\n") == "OK\nPUMP:ON\n")
        #expect(bench.exchange("BOGUS\n") == "ERROR:UNKNOWN_COMMAND\n")
    }

    @Test("ON resets a running pump's speed to 180")
    func onAgain() {
        var bench = PumpBench()
        bench.bring(to: .on)
        _ = bench.exchange("SPEED:20\n")
        #expect(bench.pump.duty == 20)
        #expect(bench.exchange("ON\n") == printed("OK", "PUMP:ON"))
        #expect(bench.pump.duty == 180)
    }

    @Test("A pump that was off starts at 180, not at its last speed")
    func onAfterOff() {
        var bench = PumpBench()
        bench.bring(to: .on)
        _ = bench.exchange("SPEED:20\n")
        _ = bench.exchange("OFF\n")
        #expect(bench.pump.duty == 0)
        _ = bench.exchange("ON\n")
        #expect(bench.pump.duty == 180)
    }

    @Test("A debug build owes no reply after the reply line, even while it still prints")
    func debugTail() {
        var pump = PumpFirmware(options: PumpFirmwareOptions(printsDebugLines: true))
        pump.receive(Array("TEMP\n".utf8), at: .zero)
        var (bytes, owed) = ([UInt8](), [Bool]())
        for millisecond in 0..<250 {
            bytes += pump.advance(to: .milliseconds(millisecond)).flatMap(\.bytes)
            let hasEnded = bytes.contains(Array("C}\r".utf8))
            if hasEnded { owed.append(pump.owesReply) } else { #expect(pump.owesReply) }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasSuffix("C}\r\n[MAIN] Command handled\r\n"))
        #expect(!owed.isEmpty && owed.allSatisfy { !$0 })
    }

    @Test("The LF after a CR owes no reply", arguments: ["\r\n", "\r\n\n"])
    func lineEndTail(end: String) {
        var pump = PumpFirmware()
        pump.receive(Array("TEMP\(end)".utf8), at: .zero)
        var bytes: [UInt8] = []
        for millisecond in 0..<250 where !bytes.contains(Array("C}\r\n".utf8)) {
            #expect(pump.owesReply)
            bytes += pump.advance(to: .milliseconds(millisecond)).flatMap(\.bytes)
        }
        #expect(!pump.owesReply && !pump.isQuiescent)
        pump.receive(Array("T".utf8), at: .milliseconds(250))
        #expect(pump.owesReply)
    }

    @Test("Debug builds print free text as well")
    func debugLines() {
        var bench = PumpBench(PumpFirmwareOptions(lineRate: .unlimited, printsDebugLines: true))
        #expect(bench.exchange("ON\n") == printed("[BT] ON", "[PUMP] ON", "OK", "PUMP:ON", "[MAIN] Command handled"))
        bench.pump.setPotentiometer(0)
        #expect(bench.run(for: .milliseconds(160)) == printed("[POT] 0"))
        bench.pressButton()
        #expect(bench.run(for: .milliseconds(160)) == printed("[BUTTON] Pressed", "MANUAL:OFF"))
    }
}

@Suite("The argument of SPEED")
struct SpeedArgumentTests {
    @Test(
        "atoi reads the argument into 16 bits, as on an AVR",
        arguments: [
            ("0", 0), ("7", 7), ("255", 255), ("256", 256), ("+5", 5), ("-5", -5), ("-0", 0), ("007", 7),
            ("", 0), ("abc", 0), ("12abc", 12), ("1 2", 1), ("  42", 42), ("\t\u{0B}\u{0C}42", 42), ("- 5", 0),
            ("--5", 0), ("+-5", 0), ("0x10", 0), ("1.9", 1), ("50%", 50),
            ("32767", 32767), ("32768", -32768), ("65535", -1), ("65536", 0), ("65736", 200), ("-65336", 200),
            ("99999999999", -6145), ("-32768", -32768), ("4294967296", 0), ("4294967304", 8), ("1e2", 1),
        ] as [(String, Int)])
    func atoi(_ text: String, _ value: Int) {
        #expect(PumpCommand.atoi(Array(text.utf8)[...]) == value)
        #expect(PumpCommand(line: Array("Speed:\(text)".utf8)) == .speed(value))
    }

    @Test(
        "Saturating firmware does not wrap a long number",
        arguments: [("255", 255), ("65736", 65736), ("-65336", -65336), ("99999999999", 1_000_000), ("-1", -1)])
    func saturating(_ text: String, _ value: Int) {
        #expect(PumpCommand(line: Array("SPEED:\(text)".utf8), saturatesNumbers: true) == .speed(value))
    }
}
