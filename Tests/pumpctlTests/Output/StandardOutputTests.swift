import FirmwareSim
import TestSupport
import Testing

@Suite("Standard output that cannot be written", .timeLimit(.minutes(5)))
struct StandardOutputTests {
    /// Runs a bash script in which `$0` is pumpctl and `$@` are `arguments`.
    private func run(_ script: String, _ arguments: [String]) async throws -> ChildProcess.Ending {
        try await Pumpctl.start(
            arguments, program: Shell.bash(script, Executable.pumpctl)
        ).ending()
    }

    @Test(
        "A full disk is reported and ends the command",
        arguments: [
            ["status"], ["--json", "status"], ["temp"], ["off"], ["on"], ["send", "STATUS"], ["monitor"],
            ["--json", "monitor"],
        ])
    func full(words: [String]) async throws {
        let pump = try await BenchPump()
        let ending = try await run("exec \"$0\" \"$@\" >/dev/full", ["-p", pump.port] + words)
        expectFailure(ending, 74, saying: "standard output: No space left on device", hint: "free space")
        if words == ["off"] { #expect(ending.errors.contains("the command was carried out: pump off")) }
        if words == ["on"] { #expect(ending.errors.contains("the command was carried out: pump on at 70 %")) }
        #expect(ending.errors.split(separator: "\n").count == 2, "\(ending.errors)")
        #expect(await pump.state() == (words == ["on"] ? .on : .off))
        await pump.close()
    }

    @Test(
        "The outcome is in the error message if standard output is closed, full or limited in size",
        arguments: [">&-", ">/dev/full", ">\"$TMPFILE\""],
        [["off"], ["led", "on"], ["storm", "log", "get"], ["peer", "say", "hello"]])
    func outcome(place: String, words: [String]) async throws {
        let folder = TemporaryFolder()
        let family = ["off": "pump", "led": "led", "storm": "storm?unpaced&rows=3", "peer": "peer"][words[0]] ?? ""
        let limit = place.contains("TMPFILE") ? "ulimit -f 0; " : ""
        let ending = try await Pumpctl.start(
            ["-p", "sim:\(family)"] + words, environment: ["TMPFILE": folder.path("output")],
            program: ["/bin/bash", "-c", "\(limit)exec \"$0\" \"$@\" \(place)", Executable.pumpctl]
        ).ending()
        expectFailure(ending, 74, saying: "standard output: ", hint: "")
        let outcomes = ["off": "carried out: pump off", "led": "carried out: led on", "peer": "carried out: sent"]
        #expect(ending.errors.contains(outcomes[words[0]] ?? "incomplete"), "\(ending.errors)")
    }

    @Test("If both the command and standard output fail, the command's failure is reported")
    func otherFailure() async throws {
        let pump = try await BenchPump()
        let ending = try await run("exec \"$0\" \"$@\" >/dev/full", ["-p", pump.port, "--json", "speed", "9"])
        expectFailure(ending, 1, saying: "PUMP_NOT_RUNNING", hint: "pumpctl on")
        await pump.close()
    }

    @Test(
        "A reader that has gone ends the command silently with status 141",
        arguments: [["status"], ["monitor"], ["--json", "monitor"]])
    func noReader(words: [String]) async throws {
        let pump = try await BenchPump()
        // The reader of descriptor 3 has exited before pumpctl writes anything.
        let script = "exec 3> >(exec 0<&-; exit 0); wait $!; \"$0\" \"$@\" >&3; echo $?"
        let ending = try await run(script, ["-p", pump.port] + words)
        #expect(ending.output == "141\n")
        #expect(ending.errors == "")
        await pump.close()
    }

    @Test("A reader that has missed an outcome is reported, with the outcome")
    func noReaderOfOutcome() async throws {
        let pump = try await BenchPump(isOn: true)
        let script = "exec 3> >(exec 0<&-; exit 0); wait $!; \"$0\" \"$@\" >&3; echo $?"
        let ending = try await run(script, ["-p", pump.port, "off"])
        #expect(ending.output == "141\n")
        #expect(ending.errors.contains("the command was carried out: pump off"), "\(ending)")
        await pump.close()
    }

    @Test(
        "A command that waits for events ends when its reader exits",
        arguments: [
            ("true", ["ports", "--watch"]), ("true", ["-p", "sim:storm?interval=300s", "storm", "log", "live"]),
            ("read -r line", ["-p", "sim:pump", "monitor", "--interval", "300s"]),
        ])
    func laterReader(reader: String, words: [String]) async throws {
        let ending = try await run("\"$0\" \"$@\" | \(reader); echo ${PIPESTATUS[0]}", words)
        #expect(ending.output == "141\n", "\(ending)")
    }

    @Test("A timed run whose reader has gone switches the pump off")
    func timedRun() async throws {
        let pump = try await BenchPump()
        let script = "exec 3> >(exec 0<&-; exit 0); wait $!; \"$0\" \"$@\" >&3; echo $?"
        let ending = try await run(script, ["-p", pump.port, "on", "--for", "10m"])
        #expect(ending.output == "141\n")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("history reports a full disk too")
    func history() async throws {
        let (pump, folder) = (try await BenchPump(), TemporaryFolder())
        let environment = ["XDG_DATA_HOME": folder.path, "PUMPCTL_RECORD": "1"]
        _ = try await Pumpctl.run("-p", pump.port, "status", "--record", environment: environment)
        let ending = try await Pumpctl.start(
            ["history", "--where"], environment: environment,
            program: Shell.bash("exec \"$0\" \"$@\" >/dev/full", Executable.pumpctl)
        ).ending()
        expectFailure(ending, 74, saying: "standard output: No space left on device", hint: "free space")
        await pump.close()
    }

    @Test("A limit on file sizes is reported as such, not as a full disk or a signal")
    func limited() async throws {
        let folder = TemporaryFolder()
        for (words, file) in [("--help", folder.path("help")), ("storm log get -o \(folder.path("log"))", "/dev/null")]
        {
            let ending = try await run(
                "ulimit -f 1; exec \"$0\" \"$@\" >\(file)",
                ["-p", "sim:storm?rows=200"] + words.split(separator: " ").map(String.init))
            expectFailure(ending, 74, saying: "File too large", hint: "ulimit -f")
        }
    }
}
