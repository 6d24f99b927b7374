import FirmwareSim
import Glibc
import SerialPort
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConsoleTests {
    /// The reply to STATUS of a pump that is off.
    private let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}"

    /// Starts a console on a terminal, and waits until it is ready for input.
    private func start(
        _ pump: ConsolePump, _ terminal: ConsoleTerminal, _ arguments: String...
    ) async throws -> ConsoleProgram {
        let program = try ConsoleProgram(
            ["console", "--port", pump.home.port] + arguments, home: pump.home, on: terminal)
        try await terminal.wait(program, forLastRow: ">")
        program.type("STATUS\r")
        try await terminal.wait(program) { $0.rows.contains { $0.hasSuffix(status) } && $0.rows.last == ">" }
        return program
    }

    @Test func `A typed command is sent, and its reply is shown`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal())
        let program = try await start(pump, terminal)
        program.type("ON\r")
        try await terminal.wait(program) { $0.rows.contains("PUMP:ON") && $0.rows.last == ">" }
        let rows = terminal.screen.rows
        #expect(rows.suffix(5) == [status, "> ON", "OK", "PUMP:ON", ">"])
        #expect(terminal.screen.unknown == [])
    }

    @Test func `Keys without a meaning for line editing insert nothing`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal())
        let program = try await start(pump, terminal)
        // Ctrl-R, then F12, F1 as three kinds of terminals send it, Page Up and Insert.
        program.type("\u{12}SPEED:2\u{1B}[24~\u{1B}OP\u{1B}[[A\u{1B}[11~\u{1B}[5~\u{1B}[2~0")
        try await terminal.wait(program, forLastRow: "> SPEED:20")
    }

    @Test func `A line of the device leaves the typed line intact`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal())
        let program = try await start(pump, terminal)
        // The cursor is in the middle of the line.
        program.type("TMP\u{1B}[D\u{1B}[D")
        try await terminal.wait(program, forLastRow: "> TMP")
        await pump.pressButton()
        try await terminal.wait(program) { $0.rows.suffix(2) == ["MANUAL:ON", "> TMP"] }
        program.type("E\r")
        try await terminal.wait(program, for: "TEMP:{Water:12.0C,Skin:34.5C}")
        #expect(terminal.screen.rows.contains("> TEMP"))
    }

    @Test func `A line of the device leaves a typed line of several rows intact`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal(columns: 60))
        let program = try await start(pump, terminal)
        let typed = String(repeating: "0123456789", count: 13)
        program.type(typed)
        let rows = ["> " + typed.prefix(58), String(typed.dropFirst(58).prefix(60)), String(typed.dropFirst(118))]
        try await terminal.wait(program) { $0.rows.suffix(3) == rows }
        await pump.pressButton()
        try await terminal.wait(program) { $0.rows.suffix(4) == ["MANUAL:ON"] + rows }
        // The typed line is on the screen only once, below the device's line.
        #expect(terminal.screen.rows.count { $0.contains("0123456789") } == 3)
    }

    @Test func `Earlier lines are recalled, also in the next console`() async throws {
        let pump = try await ConsolePump()
        do {
            let terminal = try ConsoleTerminal()
            let program = try await start(pump, terminal)
            program.type("TEMP\r\u{1B}[A\u{1B}[A")
            try await terminal.wait(program, forLastRow: "> STATUS")
            program.type("\u{03}\u{04}")
            #expect(try await program.exitStatus() == 0)
        }
        let terminal = try ConsoleTerminal()
        let program = try ConsoleProgram(["console", "--port", pump.home.port], home: pump.home, on: terminal)
        try await terminal.wait(program, forLastRow: ">")
        program.type("\u{1B}[A")
        try await terminal.wait(program, forLastRow: "> TEMP")

        var file = stat()
        #expect(stat(pump.home.path + "/pumpctl/history", &file) == 0)
        #expect(file.st_mode & 0o777 == 0o600)
    }

    @Test func `The history keeps the last 1000 lines`() async throws {
        let pump = try await ConsolePump()
        let path = pump.home.path + "/pumpctl/history"
        mkdir(pump.home.path + "/pumpctl", 0o700)
        let text = Array((1...1200).map { "LINE\($0)\n" }.joined().utf8)
        let file = open(path, O_WRONLY | O_CREAT, 0o600)
        #expect(write(file, text, text.count) == text.count)
        close(file)
        let terminal = try ConsoleTerminal()
        let program = try ConsoleProgram(["console", "--port", pump.home.port], home: pump.home, on: terminal)
        try await terminal.wait(program, forLastRow: ">")
        program.type("\u{1B}[A")
        try await terminal.wait(program, forLastRow: "> LINE1200")
        var kept = stat()
        #expect(stat(path, &kept) == 0)
        #expect(Int(kept.st_size) == (201...1200).map { "LINE\($0)\n".utf8.count }.reduce(0, +))
    }

    /// The way in which a console ends.
    enum Ending: CaseIterable { case controlD, quit, controlC, terminate, terminateWhileLost, controlCWhileLost }

    @Test(arguments: Ending.allCases)
    func `The terminal's settings are restored at the end`(_ ending: Ending) async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal())
        let program = try await start(pump, terminal)
        #expect(terminal.isEdited)
        if ending == .terminateWhileLost || ending == .controlCWhileLost {
            await pump.unplug()
            try await terminal.wait(program, forLastRow: "(no device) >")
            #expect(terminal.isEdited)
        }
        let expected: CInt
        switch ending {
        case .controlD:
            program.type("\u{04}")
            expected = 0
        case .quit:
            program.type(":quit\r")
            expected = 0
        case .controlC, .controlCWhileLost:
            // The first Ctrl-C clears the line, and the second one ends the console. Two at once would be one signal.
            program.type("ON")
            try await terminal.wait(program) { $0.rows.last?.hasSuffix("> ON") ?? false }
            program.type("\u{03}")
            try await terminal.wait(program) { $0.rows.last?.hasSuffix(">") ?? false }
            program.type("\u{03}")
            expected = 130
        case .terminate, .terminateWhileLost:
            program.type("half a l")
            try await terminal.wait(program) { $0.rows.last?.hasSuffix("half a l") ?? false }
            program.signal(SIGTERM)
            expected = 143
        }
        #expect(try await program.exitStatus() == expected)
        #expect(terminal.isAsItWas)
    }

    @Test func `The console waits for an unplugged device to come back`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal())
        let program = try await start(pump, terminal)
        program.type("TEM")
        try await terminal.wait(program, forLastRow: "> TEM")
        await pump.unplug()
        try await terminal.wait(program, forLastRow: "(no device) > TEM")
        #expect(terminal.screen.rows.contains("* waiting for the device to come back"))
        program.type("P\r")
        try await terminal.wait(program, for: "* not sent: TEMP (no device)")

        try await pump.plugIn()
        try await terminal.wait(program) { $0.rows.contains { $0.contains("is back") } && $0.rows.last == ">" }
        program.type("\u{1B}[A\r")
        try await terminal.wait(program, for: "TEMP:{Water:12.0C,Skin:34.5C}")
    }

    @Test func `A line that the pump would misread as a speed is refused`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal(columns: 200))
        let program = try await start(pump, terminal)
        program.type("SPEED:abc\r")
        try await terminal.wait(program) {
            $0.rows.contains { $0.hasPrefix("* not sent: 'SPEED:abc'") && $0.contains("--force") }
        }
        program.type("TEMP\r")
        try await terminal.wait(program, for: "TEMP:{Water:12.0C,Skin:34.5C}")
        // The pump has handled STATUS and TEMP only.
        #expect(await pump.host.change { pump, _ in pump.commandsHandled } == 2)
    }

    @Test func `With --force, a line that the pump would misread as a speed is sent`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal())
        let program = try await start(pump, terminal, "--force")
        program.type("SPEED:abc\r")
        try await terminal.wait(program, for: "ERROR:PUMP_NOT_RUNNING")
    }

    @Test func `With --timestamps, each line begins with its time`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal())
        let program = try await start(pump, terminal, "--timestamps")
        program.type("TEMP\r")
        let pattern = /\d\d:\d\d:\d\d\.\d\d\d  TEMP:\{Water:12\.0C,Skin:34\.5C\}/
        try await terminal.wait(program) { $0.rows.contains { $0.wholeMatch(of: pattern) != nil } }
    }

    @Test func `A line without an end is shown and marked`() async throws {
        let (home, terminal) = (ConsoleFolder(), try ConsoleTerminal())
        let device = try PseudoTerminal(link: home.port)
        let program = try ConsoleProgram(["console", "--port", home.port], home: home, on: terminal)
        try await terminal.wait(program, forLastRow: ">")
        program.type("HI\r")
        #expect(try await consoleLine(from: device) == "HI\n")
        _ = try device.write(Array("HEL\u{07}".utf8).span.bytes)
        try await terminal.wait(program) { $0.rows.contains { $0.hasSuffix("HEL\\x07 (no line end)") } }
        _ = try device.write(Array("LO\r\nREADY\r\n".utf8).span.bytes)
        try await terminal.wait(program) { screen in
            screen.rows.suffix(3) == ["…LO", "READY", ">"]
        }
    }

    @Test func `A line from a pipe is sent after the reply to the line before it`() async throws {
        let home = ConsoleFolder()
        let device = try PseudoTerminal(link: home.port)
        let program = try ConsoleProgram(
            ["console", "--json", "--timeout", "30", "--quiet", "1", "--port", home.port], home: home)
        program.type("ONE\nTWO")
        program.endInput()
        #expect(try await consoleLine(from: device) == "ONE\n")
        _ = try device.write(Array("first\r\nsecond\r\n".utf8).span.bytes)
        #expect(try await consoleLine(from: device) == "TWO\n")
        _ = try device.write(Array("third".utf8).span.bytes)
        #expect(try await program.exitStatus() == 0)
        let lines = try await program.lines()
        let shown = try lines.map { try ConsoleJSON($0) }
        #expect(shown.map { $0["line"] as? String } == ["first", "second", "third"])
        #expect(shown.map { $0["whole"] as? Bool } == [true, true, false])
        #expect(shown.allSatisfy { ($0["time"] as? String)?.contains("T") ?? false })
    }

    @Test func `If the device refuses a line from a pipe, the later lines are sent, and the exit status is 1`()
        async throws
    {
        let pump = try await ConsolePump()
        let program = try ConsoleProgram(
            ["console", "--timeout", "30", "--quiet", "1", "--port", pump.home.port], home: pump.home)
        program.type("STATUS\nSPEED:10\nTEMP\n")
        program.endInput()
        #expect(try await program.exitStatus() == 1)
        let lines = try await program.lines()
        #expect(lines.prefix(3) == [status, "ERROR:PUMP_NOT_RUNNING", "TEMP:{Water:12.0C,Skin:34.5C}"])
    }

    @Test func `If the console refuses a line from a pipe, the later lines are sent, and the exit status is 64`()
        async throws
    {
        let pump = try await ConsolePump()
        let program = try ConsoleProgram(
            ["console", "--timeout", "30", "--quiet", "1", "--port", pump.home.port], home: pump.home)
        program.type("ON\nSPEED:abc\nOFF\n")
        program.endInput()
        #expect(try await program.exitStatus() == 64)
        let lines = try await program.lines().filter { !$0.hasPrefix("*") }
        #expect(lines.prefix(4) == ["OK", "PUMP:ON", "OK", "PUMP:OFF"])
    }

    @Test func `A broken link ends the console, and later lines from a pipe are not sent`() async throws {
        let pump = try await ConsolePump()
        let program = try ConsoleProgram(
            ["console", "--timeout", "60", "--quiet", "60", "--port", pump.home.port], home: pump.home)
        program.type("STATUS\nON\n")
        #expect(try await program.line() == status)
        await pump.unplug()
        #expect(try await program.exitStatus() == 74)
        #expect(await pump.host.change { pump, _ in pump.commandsHandled } == 1)
    }
}
