import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Recording of values and events", .timeLimit(.minutes(5)))
struct RecordingTests {
    private let home = TemporaryFolder()

    /// An environment in which pumpctl records by its defaults, into the test's folder, with `more` variables.
    private func environment(_ more: [String: String] = [:]) -> [String: String] {
        ["XDG_DATA_HOME": home.path, "PUMPCTL_RECORD": "", "TZ": "UTC"].merging(more) { $1 }
    }

    private func run(_ arguments: String..., environment more: [String: String] = [:]) async throws
        -> ChildProcess.Ending
    {
        try await Pumpctl.start(arguments, environment: environment(more)).ending()
    }

    /// Whether there is a record.
    private var isRecorded: Bool { access(home.path("pumpctl"), F_OK) == 0 }

    @Test("monitor records its readings and its session")
    func monitor() async throws {
        let pump = try await BenchPump()
        let shown = try await run("-p", pump.port, "monitor", "--json", "--interval", "0.5", "--count", "3")
        #expect(shown.errors == "")
        let readings = try await run("history", "--json", "--device", pump.port).objects()
        #expect(readings.count == 3)
        for reading in readings {
            #expect(reading["family"] as? String == "pump")
            #expect(reading["endpoint"] as? String == pump.port)
            #expect(reading["state"] as? String == "off")
            #expect(reading["water_temp_c"] as? Double == 12)
            #expect(reading["skin_temp_c"] as? Double == 34.5)
        }
        let session = try await run("history", "--sessions", "--json").object()
        #expect(session["readings"] as? Int == 3)
        #expect(session["ending"] as? String == "closed")
        #expect(session["ended"] is String)
    }

    @Test("Button, error and lost link are recorded as events, and a reconnection as a new session")
    func events() async throws {
        let pump = try await ConsolePump()
        let program = try await Pumpctl.start(
            ["-p", pump.home.port, "monitor", "--interval", "0.5", "--json"], environment: environment())
        func untilShown(_ event: String) async throws {
            _ = try await program.output.wait(for: event) { text in
                String(decoding: text.bytes, as: UTF8.self).contains("\"event\":\"\(event)\"") ? true : nil
            }
        }
        try await untilShown("status")
        await pump.pressButton()
        try await untilShown("manual")
        await pump.host.advance(by: .seconds(31 * 60))
        try await untilShown("error")
        await pump.unplug()
        try await untilShown("lost")
        try await pump.plugIn()
        try await untilShown("back")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        let events = try await run("history", "--events", "--json").objects().map { $0["event"] as? String }
        for event in ["manual", "SAFETY_SHUTOFF", "lost"] { #expect(events.contains(event), "\(events)") }
        let sessions = try await run("history", "--sessions", "--json").objects()
        #expect(sessions.map { $0["ending"] as? String } == ["lost", "interrupted"])
    }

    @Test("log live records each measurement")
    func live() async throws {
        _ = try await run("-p", "sim:storm?seed=7&rows=100&interval=20ms", "storm", "log", "live", "--count", "5")
        let table = try await run("history", "--csv", "--family", "storm").output.split(separator: "\n")
        #expect(table.count == 6)
        #expect(table[0] == "time,session,family,endpoint,device,kind,pipe,port,point,value")
    }

    @Test("A refusal is recorded with the device's error code")
    func refusal() async throws {
        let pump = try await BenchPump()
        for arguments in [["send", "BOGUS"], ["speed", "30"]] {
            let ending = try await Pumpctl.start(
                ["-p", pump.port, "--record"] + arguments, environment: environment()
            ).ending()
            #expect(ending.status == 1)
        }
        let events = try await run("history", "--events").output
        #expect(events.contains("UNKNOWN_COMMAND") && events.contains("PUMP_NOT_RUNNING"), "\(events)")
        #expect(!events.contains("Failure("), "\(events)")
        await pump.close()
    }

    @Test("A one-shot command records only with --record")
    func oneShot() async throws {
        let pump = try await BenchPump()
        #expect(try await run("-p", pump.port, "status").status == 0)
        #expect(!isRecorded)
        #expect(try await run("-p", pump.port, "on", "--speed", "100", "--record").errors == "")
        let reading = try await run("history", "--json").object()
        #expect(reading["state"] as? String == "on")
        #expect(reading["speed_pwm"] as? Int == 100)
        #expect(try await run("-p", "sim:led", "--record", "led", "on").status == 0)
        #expect(try await run("history", "--json", "--family", "led").object()["led"] as? Bool == true)
        _ = try await run("-p", pump.port, "off")
        #expect(try await run("-p", pump.port, "speed", "9", "--record").status == 1)
        #expect(try await run("history", "--events", "--json").object()["event"] as? String == "refused")
    }

    @Test("A timed run is recorded as on, and then as off")
    func timedRun() async throws {
        let pump = try await BenchPump()
        #expect(try await run("-p", pump.port, "on", "--for", "0.6s", "--record").status == 0)
        let states = try await run("history", "--json").objects().map { $0["state"] as? String }
        #expect(states.first == "on" && states.last == "off", "\(states)")
        await pump.close()
    }

    @Test("OFF is sent before the recorder is started", arguments: [["off"], ["send", "OFF"]])
    func offFirst(words: [String]) async throws {
        let pump = try await BenchPump(isOn: true)
        let calls = home.path("calls")
        let preloaded = environment(["LD_PRELOAD": Executable.syncCounter, "SYNC_COUNTER": calls])
        let ending = try await Pumpctl.start(["-p", pump.port, "--record"] + words, environment: preloaded).ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(await pump.state() == .off)
        let made = try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n").filter {
            $0 == "write \(pump.port)" || $0.hasPrefix("spawn ")
        }
        #expect(made.first == "write \(pump.port)", "\(made)")
        #expect(made.contains { $0.hasSuffix("/pumpctl-record") }, "\(made)")
        let session = try await run("history", "--sessions", "--json").object()
        #expect(session["endpoint"] as? String == pump.port)
        #expect(session["ending"] as? String == "closed")
        if words == ["off"] {
            #expect(try await run("history", "--json").object()["state"] as? String == "off")
        } else {
            let events = try await run("history", "--events", "--json").objects().compactMap { $0["text"] as? String }
            #expect(events == ["OFF", "OK", "PUMP:OFF"])
        }
        await pump.close()
    }

    @Test("A failed OFF is recorded")
    func offFailed() async throws {
        let pump = try await ScriptedDevice()
        let ending = try await run("-p", pump.port, "--timeout", "0.2", "--record", "off")
        expectFailure(ending, 75, saying: "the pump may be on")
        #expect(try await run("history", "--events", "--json").object()["event"] as? String == "no_answer")
        await pump.close()
    }

    @Test("Without thermistors no temperature is recorded")
    func noThermistors() async throws {
        let pump = try await BenchPump(thermistors: .zero)
        #expect(try await run("-p", pump.port, "status", "--record").status == 0)
        #expect(try await run("-p", pump.port, "temp", "--record").status == 0)
        let readings = try await run("history", "--json").objects()
        #expect(readings.first?["state"] as? String == "off")
        for name in ["water_temp_c", "skin_temp_c", "temp_c"] {
            #expect(!readings.contains { $0[name] != nil }, "\(readings)")
        }
        await pump.close()
    }

    @Test("history --where prints the path and the size of the record")
    func place() async throws {
        let nothing = try await run("history", "--where")
        #expect(nothing.status == 0 && nothing.output.hasSuffix("nothing recorded yet\n"), "\(nothing)")
        #expect(try await run("-p", "sim:led", "--record", "led", "on").status == 0)
        let place = try await run("history", "--where", "--json").object()
        #expect(place["path"] as? String == home.path("pumpctl/record.sqlite"))
        let bytes = try #require(place["bytes"] as? Int)
        #expect(bytes >= 8192)
        #expect(
            try await run("history", "--where").output == "\(home.path("pumpctl/record.sqlite"))  \(bytes / 1000) kB\n")
    }

    @Test("Recording is disabled by an option, by the environment or by the configuration file")
    func off() async throws {
        try home.makeFolder("config/pumpctl")
        _ = home.write("{\"record\": false}", to: "config/pumpctl/config.json")
        let monitor = ["-p", "sim:pump", "monitor", "--count", "1"]
        for (arguments, more) in [
            (monitor + ["--no-record"], [:]), (monitor, ["PUMPCTL_RECORD": "0"]),
            (monitor, ["XDG_CONFIG_HOME": home.path("config")]),
        ] {
            #expect(try await Pumpctl.start(arguments, environment: environment(more)).ending().status == 0)
            #expect(!isRecorded, "\(arguments) \(more)")
        }
    }

    @Test(
        "Recording of all commands is enabled by the environment or by the configuration file",
        arguments: [["PUMPCTL_RECORD": "1"], ["XDG_CONFIG_HOME": "config"]],
        [(["status"], ["--json"]), (["send", "TEMP"], ["--events", "--json"]), (["off"], ["--json"])])
    func everything(more: [String: String], command: (words: [String], shown: [String])) async throws {
        try home.makeFolder("config/pumpctl")
        _ = home.write("{\"record\": true}", to: "config/pumpctl/config.json")
        let more = more.mapValues { $0 == "config" ? home.path("config") : $0 }
        let words = ["-p", "sim:pump"] + command.words
        let ending = try await Pumpctl.start(words, environment: environment(more)).ending()
        #expect(ending.status == 0 && ending.errors == "", "\(ending)")
        let history = try await Pumpctl.start(["history"] + command.shown, environment: environment()).ending()
        let content = command.words[0] == "send" ? "\"TEMP\"" : "\"state\":\"off\""
        #expect(history.output.contains(content), "\(history)")
    }

    @Test("--no-record overrides the environment, and commands without the option --record record nothing")
    func exceptions() async throws {
        let wanted = environment(["PUMPCTL_RECORD": "1"])
        for words in [
            ["-p", "sim:pump", "--no-record", "status"], ["-p", "sim:module", "module", "info"],
            ["-p", "sim:pump", "record", home.path("a.capture"), "--", "true"],
        ] {
            let ending = try await Pumpctl.start(words, environment: wanted).ending()
            #expect(ending.status == 0, "\(ending)")
            #expect(!isRecorded, "\(words)")
        }
    }

    @Test("An unwritable record is reported once, and the command goes on")
    func trouble() async throws {
        _ = home.write("This is no folder.", to: "pumpctl")
        let ending = try await run("-p", "sim:pump", "monitor", "--interval", "0.5", "--count", "3")
        #expect(ending.status == 0)
        #expect(ending.output.split(separator: "\n").count == 3)
        #expect(ending.errors.split(separator: "\n").filter { $0.contains("recording is interrupted") }.count == 1)
        // The beginning of the session, three readings, and the end.
        #expect(ending.errors.contains("5 records could not be written"), "\(ending.errors)")
    }

    @Test("A signal to the process group loses nothing of the record")
    func groupEnded() async throws {
        let program = try await Pumpctl.start(
            ["-p", "sim:pump", "monitor", "--interval", "0.5", "--json"], environment: environment(),
            program: ["setsid", Executable.pumpctl])
        let watch = try FolderWatch(home.path)
        _ = try await watch.wait(for: "the record") { isRecorded ? true : nil }
        _ = try await program.output.wait(for: "2 rows") { $0.bytes.count { $0 == 0x0A } >= 2 ? true : nil }
        kill(-program.processID, SIGTERM)
        let ending = try await program.ending()
        #expect(ending.status == 143)
        #expect(ending.errors == "")
        let session = try await run("history", "--sessions", "--json").object()
        #expect(session["ending"] as? String == "interrupted")
        let shown = ending.output.split(separator: "\n").count { $0.contains("\"event\":\"status\"") }
        #expect(session["readings"] as? Int == shown)
    }

    @Test("Values printed before a kill are in the record")
    func killed() async throws {
        let program = try await Pumpctl.start(
            ["-p", "sim:storm?interval=20ms", "storm", "log", "live"], environment: environment())
        _ = try await program.output.wait(for: "20 rows") { $0.bytes.count { $0 == 0x0A } >= 20 ? true : nil }
        program.send(signal: SIGKILL)
        let shown = try await program.ending().output.split(separator: "\n").count
        // pumpctl-record outlives pumpctl: it writes the records that it has received, and exits.
        let watch = try FolderWatch(home.path("pumpctl"))
        // The last printed row may not have been handed over to pumpctl-record before the kill.
        _ = try await watch.wait(for: "\(shown - 1) rows in the record") {
            try await run("history", "--json").output.split(separator: "\n").count >= shown - 1 ? true : nil
        }
    }
}
