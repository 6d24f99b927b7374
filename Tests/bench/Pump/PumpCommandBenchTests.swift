import LineProtocol
import Testing

@Suite("Bench: commands and refusals of the pump, line by line")
struct PumpCommandBenchTests {
    /// A dialogue: for each turn, the text sent, and the lines received without the status reports of a running pump.
    struct Dialogue: Sendable, CustomTestStringConvertible {
        var name: String
        var turns: [(out: String, back: [String])]
        /// The signals to the motor's driver at the end.
        var motor: Motor
        var testDescription: String { name }
    }

    static let dialogues = [
        Dialogue(
            name: "on starts at 180 and goes back to it, off stops",
            turns: [
                ("ON\n", ["OK", "PUMP:ON"]), ("SPEED:20\n", ["OK", "SPEED:20"]), ("ON\n", ["OK", "PUMP:ON"]),
                ("OFF\n", ["OK", "PUMP:OFF"]), ("OFF\n", ["OK", "PUMP:OFF"]), ("ON\n", ["OK", "PUMP:ON"]),
            ], motor: .on(180)),
        Dialogue(
            name: "speeds from 0 to 255 are taken",
            turns: [("ON\n", ["OK", "PUMP:ON"])]
                + [1, 9, 127, 254, 255, 0].map { ("SPEED:\($0)\n", ["OK", "SPEED:\($0)"]) }, motor: .on(0)),
        Dialogue(
            name: "speeds out of range are refused",
            turns: [("ON\n", ["OK", "PUMP:ON"])]
                + ["256", "-1", "999", "1000", "32768", "65536", "65736", "99999999999", "-99999999999"].map {
                    ("SPEED:\($0)\n", ["ERROR:INVALID_SPEED_VALUE"])
                }, motor: .on(180)),
        Dialogue(
            name: "a speed is read as atoi reads it",
            turns: [
                ("ON\n", ["OK", "PUMP:ON"]), ("SPEED:abc\n", ["OK", "SPEED:0"]), ("SPEED:7x\n", ["OK", "SPEED:7"]),
                ("SPEED:\n", ["OK", "SPEED:0"]), ("SPEED: 12\n", ["OK", "SPEED:12"]),
                ("SPEED:+13\n", ["OK", "SPEED:13"]),
                ("SPEED:0x20\n", ["OK", "SPEED:0"]), ("SPEED:1.9\n", ["OK", "SPEED:1"]),
                ("SPEED:\(String(repeating: "0", count: 40))40\n", ["OK", "SPEED:40"]),
            ], motor: .on(40)),
        Dialogue(
            name: "no speed without a running pump",
            turns: ["SPEED:100\n", "SPEED:255\n", "SPEED:abc\n"].map { ($0, ["ERROR:PUMP_NOT_RUNNING"]) }
                + ["SPEED:256\n", "SPEED:300\n", "SPEED:-1\n"].map { ($0, ["ERROR:INVALID_SPEED_VALUE"]) }, motor: .off),
        Dialogue(
            name: "unknown commands are refused",
            turns: [
                "FROB", "?", "ONN", "O", "SPEED", "SPEED=9", "STATUS?", "AT", "ON;OFF", "\0ON", "öN",
            ]
            .map { ("\($0)\n", ["ERROR:UNKNOWN_COMMAND"]) }, motor: .off),
        Dialogue(
            name: "a NUL ends a command",
            turns: [
                ("ON\0\n", ["OK", "PUMP:ON"]), ("OFF\0ON\n", ["OK", "PUMP:OFF"]), ("ON\0junk\n", ["OK", "PUMP:ON"]),
                ("SPEED:12\03\n", ["OK", "SPEED:12"]), ("\0\n", ["ERROR:UNKNOWN_COMMAND"]),
            ], motor: .on(12)),
        Dialogue(
            name: "case does not matter",
            turns: [
                ("on\n", ["OK", "PUMP:ON"]), ("sPeEd:9\n", ["OK", "SPEED:9"]), ("Off\n", ["OK", "PUMP:OFF"]),
                ("oN\n", ["OK", "PUMP:ON"]),
            ], motor: .on(180)),
        Dialogue(
            name: "spaces do",
            turns: [" ON", "ON ", "\tON", "ON\t", " ", "O N", "SPEED :9"].map {
                ("\($0)\n", ["ERROR:UNKNOWN_COMMAND"])
            },
            motor: .off),
        Dialogue(
            name: "a line feed, a carriage return or both end a command, and empty lines are ignored",
            turns: [
                ("ON\n", ["OK", "PUMP:ON"]), ("SPEED:1\r", ["OK", "SPEED:1"]), ("SPEED:2\r\n", ["OK", "SPEED:2"]),
                ("\n", []), ("\r", []), ("\r\n\r\n\n\n\r\r", []), ("\n\r\nSPEED:3\n\n\r\n", ["OK", "SPEED:3"]),
            ], motor: .on(3)),
        Dialogue(
            name: "63 bytes are a command, 64 are too long",
            turns: [
                (String(repeating: "X", count: 63) + "\n", ["ERROR:UNKNOWN_COMMAND"]),
                (String(repeating: "X", count: 64) + "\n", ["ERROR:CMD_TOO_LONG"]),
                (String(repeating: "X", count: 70) + "\n", ["ERROR:CMD_TOO_LONG", "ERROR:UNKNOWN_COMMAND"]),
                (String(repeating: "X", count: 64) + "ON\n", ["ERROR:CMD_TOO_LONG", "OK", "PUMP:ON"]),
                (String(repeating: "X", count: 63) + "ON\n", ["ERROR:CMD_TOO_LONG", "ERROR:UNKNOWN_COMMAND"]),
            ], motor: .on(180)),
        Dialogue(
            name: "several commands in one write are answered in order",
            turns: [
                (
                    "ON\nSPEED:50\nBOGUS\nOFF\nSPEED:1\nON\r\nSPEED:77\r",
                    [
                        "OK", "PUMP:ON", "OK", "SPEED:50", "ERROR:UNKNOWN_COMMAND", "OK", "PUMP:OFF",
                        "ERROR:PUMP_NOT_RUNNING", "OK", "PUMP:ON", "OK", "SPEED:77",
                    ]
                ),
                ("A\nB\nC\nD\nE\nF\nG\nH\n", Array(repeating: "ERROR:UNKNOWN_COMMAND", count: 8)),
            ], motor: .on(77)),
    ]

    @Test(
        "Commands get the expected replies and leave the motor in the expected state", arguments: RigKind.allCases,
        dialogues)
    func dialogue(kind: RigKind, _ dialogue: Dialogue) async throws { try await hold(dialogue, kind) }

    /// Two dialogues are left out. "Several commands": a share sends OFF before other commands, so their order changes.
    /// "63 bytes": a share passes on whole lines only, so the test can't send a long line in pieces that the pump's
    /// buffer has room for.
    @Test(
        "Commands to a shared pump get the expected replies", arguments: RigKind.sharedCases,
        dialogues.filter { !$0.name.hasPrefix("several commands") && !$0.name.hasPrefix("63 bytes") })
    func sharedDialogue(kind: RigKind, _ dialogue: Dialogue) async throws { try await hold(dialogue, kind) }

    /// Plays a dialogue. Long texts are sent in pieces, between which the pump reads its buffer.
    private func hold(_ dialogue: Dialogue, _ kind: RigKind) async throws {
        try await kind.run { rig in
            let line = try await PumpLine.open(rig)
            for turn in dialogue.turns {
                var out = turn.out
                while out.utf8.count > 55 {
                    // While the firmware sleeps, its UART buffers only 63 bytes, including the query that ends a turn.
                    try await line.send(String(out.prefix(40)))
                    try await rig.run(for: .milliseconds(300))
                    out = String(out.dropFirst(40))
                }
                let heard = try await line.exchange(out).withoutReports
                #expect(heard == turn.back, "to \(turn.out.debugDescription)")
            }
            #expect(try await rig.motor() == dialogue.motor)
            await line.close()
        }
    }

    @Test(
        "The error state refuses ON and SPEED, and OFF leaves it",
        arguments: RigKind.allCases + RigKind.sharedCases)
    func errorState(kind: RigKind) async throws {
        try await kind.run { rig in
            let line = try await PumpLine.open(rig)
            _ = try await line.exchange("ON\n")
            try await rig.setSkin(41)
            try await rig.run(for: .seconds(1))
            #expect(try await line.nextButReports() == "ERROR:OVERHEAT")
            // AVR's printf has no `%f`, and prints `?` instead.
            #expect(try await line.nextButReports() == "Skin temperature too high: ?C")
            try await rig.setSkin(34)
            #expect(try await line.exchange("ON\n").withoutReports == ["ERROR:PUMP_START_FAILED"])
            #expect(try await line.exchange("SPEED:9\n").withoutReports == ["ERROR:PUMP_NOT_RUNNING"])
            #expect(try await rig.motor() == .off)
            let both = try await line.exchange("OFF\nON\n").withoutReports
            #expect(both == ["OK", "PUMP:OFF", "OK", "PUMP:ON"])
            #expect(try await rig.motor() == .on(180))
            await line.close()
        }
    }

    @Test(
        "Status and temperatures have the firmware's format",
        arguments: RigKind.allCases + RigKind.sharedCases)
    func measurements(kind: RigKind) async throws {
        try await kind.run { rig in
            let line = try await PumpLine.open(rig)
            try await rig.setWater(5)
            try await rig.setSkin(36.5)
            // Within one count of the analogue-to-digital converter, which is 0.1 °C here.
            let (water, skin) = ("( 4\\.9| 5\\.0| 5\\.1)C", "36\\.[456]")
            let fields = kind.thermistors == 1 ? "Temp:\(skin)C" : "WaterTemp:\(water),SkinTemp:\(skin)C"
            try await line.send("STATUS\n")
            try expect(await line.next(), "STATUS:\\{State:OFF,\(fields)\\}")
            try await line.send("TEMP\n")
            try expect(
                await line.next(), kind.thermistors == 1 ? "TEMP:\(skin)" : "TEMP:\\{Water:\(water),Skin:\(skin)C\\}")
            _ = try await line.exchange("ON\n")
            let on = try await line.exchange("STATUS\n")
            try expect(on.last ?? "", "STATUS:\\{State:ON,Speed:70%,Runtime:0m,Remaining:29m,\(fields)\\}")
            await line.close()
        }
    }

    private func expect(_ line: String, _ pattern: String, _ location: SourceLocation = #_sourceLocation) throws {
        #expect(try line.wholeMatch(of: Regex(pattern)) != nil, "\(line)", sourceLocation: location)
    }
}
