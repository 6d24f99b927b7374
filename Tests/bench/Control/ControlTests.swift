import StrictJSON
import Testing
import TestSupport

// The same requests to the simulator and to the firmware on the emulated board. `SimulationClient` checks each line of
// the socket against packaging/schema/simulation.schema.json.
@Suite("Bench: control socket of the simulator and of the emulated board")
struct ControlTests {
    typealias Kind = ControlledPump.Kind

    @Test("The greeting names one pump", arguments: Kind.allCases)
    func hello(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            #expect(pump.client.hello["event"] == "hello")
            #expect(pump.client.hello["version"] == 1)
            #expect(pump.client.hello["family"] == "pump")
            #expect(pump.client.hello["devices"] == 1)
        }
    }

    @Test("The state of a pump that is off has every value", arguments: Kind.allCases)
    func state(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            let state = try await pump.perform("state")
            #expect(state["duty"] == 0)
            #expect(state["knob"]?.number == Double(RigKind.potentiometer) / 1023)
            #expect(state["water_temp_c"]?.number == RigKind.water)
            #expect(state["skin_temp_c"]?.number == RigKind.skin)
            #expect(state["power_led"] == true)
            #expect(state["status_led"] == false)
        }
    }

    @Test("The knob sets the speed of a running pump", arguments: Kind.allCases)
    func knob(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            #expect(try await pump.line.exchange("ON\n").withoutReports == ["OK", "PUMP:ON"])
            #expect(try await pump.perform("state")["duty"] == 180)
            for (position, reading, duty) in [("0.25", 256, 67), ("0.01", 10, 0), ("1", 1023, 255), ("0.7", 716, 180)] {
                let turned = try await pump.perform("turn", position)
                #expect(turned["knob"]?.number == Double(reading) / 1023)
                #expect(try await pump.perform("advance", "500ms")["duty"] == .integer(duty), "\(position)")
            }
        }
    }

    @Test("The button switches the pump on and off", arguments: Kind.allCases)
    func button(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            for (line, duty) in [("MANUAL:ON", 180), ("MANUAL:OFF", 0), ("MANUAL:ON", 180)] {
                try await pump.perform("press")
                #expect(try await pump.perform("advance", "1")["duty"] == .integer(duty))
                #expect(try await pump.line.nextButReports() == line)
            }
        }
    }

    @Test("A hot skin sensor stops the pump", arguments: Kind.allCases)
    func heat(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            _ = try await pump.line.exchange("ON\n")
            let warmed = try await pump.perform("temperature", "skin", "41")
            #expect(warmed["skin_temp_c"]?.number == 41)
            #expect(warmed["water_temp_c"]?.number == RigKind.water)
            #expect(try await pump.perform("advance", "2s")["duty"] == 0)
            #expect(try await pump.line.nextButReports() == "ERROR:OVERHEAT")
            // AVR's printf has no `%f`, and prints `?` instead.
            #expect(try await pump.line.nextButReports() == "Skin temperature too high: ?C")
        }
    }

    @Test("A broken probe reads -273.1 °C until it is repaired", arguments: Kind.allCases)
    func probe(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            for condition in ["open", "shorted"] {
                #expect(try await pump.perform("probe", "skin", condition)["skin_temp_c"]?.number == RigKind.skin)
                try await pump.perform("advance", "1s")
                let broken = try await temperatures(of: pump)
                #expect(broken == ["TEMP:{Water:12.0C,Skin:-273.1C}"], "\(condition)")
            }
            try await pump.perform("probe", "skin", "sound")
            try await pump.perform("advance", "1s")
            #expect(try await temperatures(of: pump) == ["TEMP:{Water:12.0C,Skin:34.0C}"])
        }
    }

    private func temperatures(of pump: ControlledPump) async throws -> [String] {
        try await pump.line.exchange("TEMP\n", temperatures: 1)
    }

    @Test("advance skips half an hour and delivers the lines of that time", arguments: Kind.allCases)
    func time(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            _ = try await pump.line.exchange("ON\n")
            #expect(try await pump.perform("advance", "29m")["duty"] == 180)
            let lines = try await pump.line.exchange("")
            // One report every 5 s in 29 minutes, and nothing else. The pump also runs in real time: on a busy machine up
            // to a minute passes besides.
            #expect((347...360).contains(lines.count), "\(lines.count)")
            #expect(lines.withoutReports == [])
            let ends = ["Runtime:28m,Remaining:1m", "Runtime:29m,Remaining:0m"]
            #expect(ends.contains { lines.last?.contains($0) == true }, "\(lines.last ?? "")")
            #expect(try await pump.perform("advance", "2m")["duty"] == 0)
            #expect(try await pump.line.nextButReports() == "ERROR:SAFETY_SHUTOFF")
            #expect(try await pump.line.nextButReports() == "Maximum runtime exceeded")
        }
    }

    @Test("A reset pump is off and starts again", arguments: Kind.allCases)
    func reset(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            _ = try await pump.line.exchange("ON\n")
            #expect(try await pump.perform("reset")["duty"] == 0)
            #expect(try await pump.perform("advance", "4s")["duty"] == 0)
            #expect(try await pump.line.exchange("").contains("Ready for commands..."))
            #expect(try await pump.line.exchange("SPEED:9\n") == ["ERROR:PUMP_NOT_RUNNING"])
        }
    }

    /// Lines that are refused, each with the error code. `isRequest` is whether the schema accepts the line.
    static let refusals: [(line: String, isRequest: Bool, code: String)] = [
        (#"{"id":1,"do":"dance"}"#, true, "usage"),
        (#"{"id":1,"do":"press","arguments":["hard"]}"#, true, "usage"),
        (#"{"id":1,"do":"turn"}"#, true, "usage"),
        (#"{"id":1,"do":"turn","arguments":["1.1"]}"#, true, "usage"),
        (#"{"id":1,"do":"turn","arguments":["nan"]}"#, true, "usage"),
        (#"{"id":1,"do":"turn","arguments":[" 1"]}"#, true, "usage"),
        (#"{"id":1,"do":"turn","arguments":["0.1","0.2","0.3","0.4","0.5"]}"#, true, "usage"),
        (#"{"id":1,"do":"turn","arguments":[0.5]}"#, false, "usage"),
        (#"{"id":1,"do":"press","arguments":"all"}"#, false, "usage"),
        (#"{"id":1,"do":"press","hard":true}"#, false, "usage"),
        (#"{"id":1,"do":"press","device":"1"}"#, false, "usage"),
        (#"{"id":1,"do":"press","device":2}"#, true, "no_such_device"),
        (#"{"id":1,"do":"dance","device":2}"#, true, "no_such_device"),
        (#"{"id":1,"do":"temperature","arguments":["air","20"]}"#, true, "usage"),
        (#"{"id":1,"do":"temperature","arguments":["skin","151"]}"#, true, "usage"),
        (#"{"id":1,"do":"probe","arguments":["skin","short"]}"#, true, "usage"),
        (#"{"id":1,"do":"advance","arguments":["-1s"]}"#, true, "usage"),
        (#"{"id":1,"do":"advance","arguments":["0"]}"#, true, "usage"),
        (#"{"id":1,"do":"advance","arguments":["1 s"]}"#, true, "usage"),
        (#"{"id":1,"do":"advance","arguments":["1000001"]}"#, true, "usage"),
        (#"{"id":1,"do":"state","arguments":["all"]}"#, true, "usage"),
        (#"{"id":1,"do":"stop","device":1}"#, true, "usage"),
        (#"{"id":1,"do":"stop","arguments":["now"]}"#, true, "usage"),
        (#"{"id":1}"#, false, "usage"),
        (#"{"do":"press"}"#, false, "usage"),
        (#"{"id":1.5,"do":"press"}"#, false, "usage"),
        (#"{"id":1,"id":2,"do":"press"}"#, false, "usage"),
        (#"["press"]"#, false, "usage"),
        (#"{"id":1,"do":"press""#, false, "usage"),
        ("press", false, "usage"),
        ("", false, "usage"),
    ]

    @Test("Invalid and impossible requests are refused and change nothing", arguments: Kind.allCases)
    func refusals(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            let before = try await pump.perform("state")
            for (line, isRequest, code) in Self.refusals {
                let answer = try await pump.client.ask(line, isRequest: isRequest)
                #expect(answer["ok"] == false, "\(line)")
                #expect(answer["error"]?["code"] == .text(code), "\(line)")
                #expect(answer["error"]?["outcome"] == "not_sent", "\(line)")
                let value = try? JSONValue(parsing: line)
                #expect(answer["id"] == (value?["id"] == 1 ? 1 : .null), "\(line)")
            }
            #expect(try await pump.perform("state") == before)
        }
    }

    @Test("Too long a request is refused before the connection closes", arguments: Kind.allCases, [16_385, 20_000])
    func tooLong(kind: Kind, length: Int) async throws {
        try await ControlledPump.run(kind) { pump in
            let answer = try await pump.client.ask(String(repeating: "x", count: length), isRequest: false)
            #expect(answer["id"] == .null)
            #expect(answer["error"]?["message"] == "a request has at most 16384 bytes")
            await #expect(throws: (any Error).self) { try await pump.client.ask(#"{"id":1,"do":"state"}"#) }
        }
    }

    @Test("pumpctl sim ctl turns the knob and prints the state", arguments: Kind.allCases)
    func program(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            func control(_ words: String...) async throws -> ChildProcess.Ending {
                try await ChildProcess([Executable.pumpctl, "--json", "sim", "ctl", pump.path] + words).ending()
            }
            let turned = try await control("turn", "0.25")
            #expect(turned.status == 0, "\(turned.errors)")
            let object = try JSONValue(parsing: turned.output)
            #expect(object["ok"] == true)
            #expect(object["knob"]?.number == 256.0 / 1023)
            #expect(object["duty"] == 0)
            let refused = try await control("turn", "2")
            #expect(refused.status == 64)
            #expect(refused.errors.contains("position takes a number from 0 to 1"), "\(refused.errors)")
        }
    }

    @Test("stop gets its reply before the simulation ends", arguments: Kind.allCases)
    func stop(kind: Kind) async throws {
        try await ControlledPump.run(kind) { pump in
            let answer = try await pump.client.ask(#"{"id":"end","do":"stop"}"#)
            #expect(answer == .object(["id": "end", "ok": true]))
        }
    }
}
