import FirmwareSim
import Glibc
import SerialPort
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MonitorTests {
    /// Starts `pumpctl monitor`, which asks the device every 0.5 s.
    private func start(_ home: ConsoleFolder, _ arguments: String...) throws -> ConsoleProgram {
        try ConsoleProgram(
            ["monitor", "--timeout", "30", "--interval", "0.5", "--port", home.port] + arguments, home: home)
    }

    /// Waits for the next update.
    private func update(_ program: ConsoleProgram) async throws -> ConsoleJSON {
        try ConsoleJSON(try #require(try await program.line()))
    }

    /// Waits for an update with this event.
    private func update(_ program: ConsoleProgram, _ event: String) async throws -> ConsoleJSON {
        while true {
            let update = try await update(program)
            if update["event"] as? String == event { return update }
        }
    }

    @Test func `An update has all documented keys`() async throws {
        let pump = try await ConsolePump()
        let program = try start(pump.home, "--json", "--count", "2")
        for _ in 1...2 {
            let update = try await update(program)
            #expect(
                update.keys == [
                    "time", "link", "event", "text", "state", "speed_percent", "speed_pwm", "water_temp_c",
                    "skin_temp_c", "temp_c", "sensor_faults", "runtime_min", "remaining_min", "runtime_progress",
                    "last_control", "error", "safety_shutoff",
                ])
            #expect(update["link"] as? String == "up")
            #expect(update["state"] as? String == "off")
            #expect(update["skin_temp_c"] as? Double == 34.5)
            #expect(update["safety_shutoff"] as? Bool == false)
            #expect((update["time"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        }
        #expect(try await program.line() == nil)
        #expect(try await program.exitStatus() == 0)
    }

    @Test func `A running pump is shown with its run time`() async throws {
        let pump = try await ConsolePump()
        await pump.pressButton()
        await pump.host.advance(by: .seconds(15 * 60))
        let update = try await update(try start(pump.home, "--json"))
        #expect(update["state"] as? String == "on")
        #expect(update["speed_percent"] as? Int == 70)
        #expect(update["runtime_min"] as? Int == 15)
        #expect(update["runtime_progress"] as? Double == 0.5)
    }

    @Test func `Unsolicited lines between queries are shown as events`() async throws {
        let pump = try await ConsolePump()
        let program = try start(pump.home, "--json")
        _ = try await update(program, "status")
        await pump.pressButton()
        let manual = try await update(program, "manual")
        #expect(manual["last_control"] as? String == "manual")
        #expect(manual["state"] as? String == "on")
        await pump.host.advance(by: .seconds(31 * 60))
        let error = try await update(program, "error")
        #expect(error["error"] as? String == "SAFETY_SHUTOFF")
        #expect(error["safety_shutoff"] as? Bool == true)
        #expect(error["state"] as? String == "error")
        #expect(try await update(program, "text")["text"] as? String == "Maximum runtime exceeded")
    }

    @Test func `The state of an unplugged pump is unknown until the pump is back`() async throws {
        let pump = try await ConsolePump()
        await pump.pressButton()
        let program = try start(pump.home, "--json")
        #expect(try await update(program, "status")["state"] as? String == "on")
        await pump.unplug()
        let lost = try await update(program, "lost")
        #expect(lost["link"] as? String == "lost")
        #expect(lost["state"] as? String == "unknown")
        for key in ["speed_percent", "skin_temp_c", "runtime_min", "last_control", "safety_shutoff"] {
            #expect(lost[key] == nil, "\(key)")
        }
        try await pump.plugIn()
        let back = try await update(program)
        #expect(back["event"] as? String == "back")
        #expect(back["link"] as? String == "up")
        #expect(back["state"] as? String == "on", "the state was queried again")
        #expect(back["text"] == nil)
        program.signal(SIGINT)
        #expect(try await program.exitStatus() == 130)
    }

    @Test func `When a pump is back, the text names the difference from its state before`() async throws {
        let pump = try await ConsolePump()
        let program = try start(pump.home, "--json")
        _ = try await update(program, "status")
        await pump.pressButton()
        #expect(try await update(program, "manual")["last_control"] as? String == "manual")
        #expect(try await update(program, "status")["state"] as? String == "on")
        await pump.unplug()
        await pump.host.change { pump, now in pump.reset(at: now) }
        await pump.host.advance(by: .seconds(10))
        _ = try await update(program, "lost")
        try await pump.plugIn()
        let back = try await update(program)
        #expect(back["event"] as? String == "back")
        #expect(back["state"] as? String == "off")
        #expect(back["text"] as? String == "the pump was on at 70 % and is off")
        #expect(back["last_control"] == nil, "the board has started again")
    }

    @Test func `The state of a silent pump is unknown, and the pump is asked again`() async throws {
        let home = ConsoleFolder()
        let device = try PseudoTerminal(link: home.port)
        // This --timeout overrides that of `start`: the test waits for its end.
        let program = try start(home, "--json", "--timeout", "16")
        let answer = Array("STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m}\r\n".utf8)
        #expect(try await consoleLine(from: device).hasPrefix("STATUS\n"))
        _ = try device.write(answer.span.bytes)
        #expect(try await update(program)["state"] as? String == "on")

        let silence = try await update(program, "no_answer")
        #expect(silence["state"] as? String == "unknown")
        #expect(silence["runtime_min"] == nil)
        #expect(silence["link"] as? String == "up")

        #expect(try await consoleLine(from: device).hasPrefix("STATUS\n"))
        _ = try device.write(answer.span.bytes)
        #expect(try await update(program, "status")["runtime_min"] as? Int == 5)
    }

    @Test func `Without a terminal, each update is a plain line`() async throws {
        let pump = try await ConsolePump()
        let program = try start(pump.home, "--count", "2")
        let lines = try await program.lines()
        #expect(lines.count == 2)
        let pattern = /\d\d:\d\d:\d\d  off  skin 34\.5 °C  water 12\.0 °C/
        #expect(lines.allSatisfy { $0.wholeMatch(of: pattern) != nil }, "\(lines)")
        #expect(try await program.exitStatus() == 0)
    }

    @Test func `monitor ends with status 0 after the time of --for`() async throws {
        let pump = try await ConsolePump()
        #expect(try await start(pump.home, "--for", "0.1s").exitStatus() == 0)
    }

    @Test func `On a terminal the state is redrawn in the last row`() async throws {
        let (pump, terminal) = (try await ConsolePump(), try ConsoleTerminal(columns: 50))
        let program = try ConsoleProgram(
            ["monitor", "--timeout", "30", "--interval", "0.5", "--port", pump.home.port], home: pump.home, on: terminal
        )
        var earlier: String?
        for _ in 1...2 {
            try await terminal.wait(program) { screen in
                guard let row = screen.rows.last, row != earlier else { return false }
                return row.contains("off  skin 34.5 °C  water 12.0 °C")
            }
            // The next row has a later time.
            earlier = terminal.screen.rows.last
        }
        await pump.unplug()
        try await terminal.wait(program) { $0.rows.last?.hasSuffix("link lost  state unknown") ?? false }
        // The text of the event is above the state. It is complete, and wraps between words.
        let rows = terminal.screen.rows
        let news = rows.dropLast().joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(news.contains("link lost: ") && news.hasSuffix("gone; state unknown"), "\(rows)")
        #expect(!news.contains("skin"), "\(rows)")
        #expect(rows.allSatisfy { $0.count <= 50 })
        program.signal(SIGINT)
        #expect(try await program.exitStatus() == 130)
    }

    @Test func `An update of an LED board has the keys of its family`() async throws {
        let update = try ConsoleJSON(
            try await Pumpctl.run("-p", "sim:led?lit", "--json", "--no-record", "monitor", "--count", "1").output)
        #expect(update.keys == ["time", "link", "event", "text", "led"])
        #expect(update["led"] as? Bool == true)
        let words = ["-p", "sim:led", "--no-record", "monitor", "--count", "1"]
        let text = try await Pumpctl.start(words).ending().output
        #expect(text.wholeMatch(of: /\d\d:\d\d:\d\d  LED off\n/) != nil, "\(text)")
    }

    @Test func `A family whose state cannot be queried is refused`() async throws {
        let ending = try await Pumpctl.start(["-p", "sim:storm", "monitor"]).ending()
        expectFailure(ending, 64, saying: "has no state query", hint: "pumpctl console")
    }
}
