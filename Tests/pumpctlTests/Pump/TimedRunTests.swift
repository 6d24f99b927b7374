import FirmwareSim
import Foundation
import Glibc
import Testing
import TestSupport

@Suite("pumpctl on --for")
struct TimedRunTests {
    @Test("The pump is switched off after the time of --for")
    func end() async throws {
        let pump = try await BenchPump()
        let ending = try await Pumpctl.run("-p", pump.port, "on", "--for", "0.2s", "--speed", "99")
        #expect(ending.status == 0)
        #expect(ending.output == "pump on at 38 % (PWM 99)\npump off\n")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    /// Every signal that ends a program by default and can be handled, except crash signals, and SIGPIPE and SIGXFSZ,
    /// which pumpctl ignores, because a failed write tells the same.
    static let endingSignals =
        [
            SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT,
            SIGXCPU, SIGSYS,
        ] + (__libc_current_sigrtmin()...__libc_current_sigrtmax())

    @Test("A signal switches the pump off, and the exit status names it", arguments: endingSignals)
    func signal(number: CInt) async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 %")
        #expect(await pump.duty() == 180)
        program.send(signal: number)
        let ending = try await program.ending()
        #expect(ending.status == 128 + number)
        // The program dies of the signal, so that a script that Ctrl-C has reached ends too, unless this dumps core.
        #expect(ending.signal == ([SIGQUIT, SIGXCPU, SIGSYS].contains(number) ? nil : number))
        #expect(ending.output == "pump off\n")
        #expect(ending.errors == "")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test(
        "A signal switches the pump off also during a capture, a record or -v",
        arguments: [["--capture", "pump.capture"], ["--record"], ["-v"]])
    func signal(options: [String]) async throws {
        let (pump, folder) = (try await BenchPump(), TemporaryFolder())
        let options = options.map { $0.hasPrefix("-") ? $0 : folder.path($0) }
        let program = try await Pumpctl.start(
            options + ["-p", pump.port, "on", "--for", "10m"], environment: ["XDG_DATA_HOME": folder.path])
        #expect(try await program.output.line() == "pump on at 70 %")
        program.send(signal: SIGTERM)
        let ending = try await program.ending()
        #expect(ending.status == 143)
        #expect(ending.output == "pump off\n", "\(ending)")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("A signal ignored by the parent does not end the run")
    func ignored() async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(
            ["-p", pump.port, "on", "--for", "10m"],
            program: ["/usr/bin/env", "--ignore-signal=HUP", Executable.pumpctl])
        #expect(try await program.output.line() == "pump on at 70 %")
        program.send(signal: SIGHUP)
        program.send(signal: SIGTERM)
        #expect(try await program.ending().status == 143)
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("Ctrl-Z switches the pump off before stopping, and the run ends when continued")
    func suspension() async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 %")
        program.send(signal: SIGTSTP)
        #expect(try await program.output.line() == "pump off")
        try await program.untilStopped()
        #expect(await pump.state() == .off)
        let count = await pump.host.change { pump, _ in pump.commandsHandled }
        program.send(signal: SIGCONT)
        let ending = try await program.ending()
        #expect(ending.status == 128 + SIGTSTP)
        #expect(ending.output == "")
        #expect(ending.errors.contains("Ctrl-Z has ended this command\n  hint: run it again"), "\(ending)")
        // Nothing more was sent, not even ON and OFF.
        #expect(await pump.host.change { pump, _ in pump.commandsHandled } == count)
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("fg after Ctrl-Z ends the run with the pump off")
    func foreground() async throws {
        let pump = try await BenchPump()
        let script = """
            set -m; \(Executable.pumpctl) --no-record --timeout 30 -p \(pump.port) on --for 10m &
            read go; kill -TSTP %1; wait %1; echo stopped; read go; fg; echo "status $?"
            """
        let shell = try await ChildProcess(Shell.bash(script))
        #expect(try await shell.output.line() == "pump on at 70 %")
        try await shell.write("\n")
        #expect(try await shell.output.line() == "pump off")
        #expect(try await shell.output.line() == "stopped")
        #expect(await pump.state() == .off)
        let count = await pump.host.change { pump, _ in pump.commandsHandled }
        try await shell.write("\n")
        let ending = try await shell.ending()
        #expect(ending.output.hasSuffix("status 148\n"), "\(ending)")
        #expect(await pump.host.change { pump, _ in pump.commandsHandled } == count)
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("A closed output ends the run with the pump off, also if the first line was read", arguments: [true, false])
    func readerGone(isJSON: Bool) async throws {
        for reader in ["true", "head -n 1 | wc -l"] {
            let pump = try await BenchPump()
            let command =
                "\(Executable.pumpctl) \(isJSON ? "--json" : "") --no-record --timeout 30 -p \(pump.port) on --for 10m"
            let program = try await ChildProcess(Shell.bash(command + " | \(reader); echo ${PIPESTATUS[0]}"))
            let ending = try await program.ending()
            #expect(ending.output == (reader == "true" ? "" : "1\n") + "141\n", "\(ending)")
            #expect(await pump.state() == .off)
            await pump.close()
        }
    }

    @Test("Two signals at once, as timeout(1) sends them, end the run with the pump off")
    func signalTwice() async throws {
        for second in [SIGTERM, SIGHUP] {
            let pump = try await BenchPump()
            let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
            #expect(try await program.output.line() == "pump on at 70 %")
            program.send(signal: SIGTERM)
            program.send(signal: second)
            let ending = try await program.ending()
            // Of two pending signals, the system may deliver either first.
            #expect([SIGTERM, second].contains { ending.status == 128 + $0 }, "\(ending)")
            #expect(!ending.errors.contains("given up"), "\(ending)")
            #expect(await pump.state() == .off)
            await pump.close()
        }
    }

    @Test("A pump that stops for safety ends the run with 3", arguments: [false, true])
    func safety(isJSON: Bool) async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start((isJSON ? ["--json"] : []) + ["-p", pump.port, "on", "--for", "10m"])
        _ = try await program.output.line()
        await pump.overheat()
        expectFailure(try await program.ending(), 3, saying: "OVERHEAT", hint: "pumpctl off")
        #expect(await pump.state() == .error)
        await pump.close()
    }

    @Test("A pump stopped for safety earlier keeps its error state")
    func latched() async throws {
        let pump = try await BenchPump()
        _ = try await Pumpctl.run("-p", pump.port, "on")
        await pump.overheat()
        let ending = try await Pumpctl.run("-p", pump.port, "on", "--for", "10m")
        expectFailure(ending, 1, saying: "PUMP_START_FAILED", hint: "pumpctl off")
        #expect(ending.output == "")
        #expect(await pump.state() == .error)
        await pump.close()
    }

    @Test(
        "A faulty skin sensor ends the run with 3, and the pump is off",
        arguments: [
            (.open, "wire is broken"), (.reading(2), "skin is 5 to 45 °C"),
            (.reading(.nan), "can't be read"),
        ] as [(ThermistorCondition, String)])
    func sensor(condition: ThermistorCondition, words: String) async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 %")
        await pump.host.change { pump, _ in pump.setSkinThermistor(condition) }
        await pump.host.advance(by: .seconds(6))
        let ending = try await program.ending()
        expectFailure(ending, 3, saying: words, "the pump was switched off", hint: "--ignore-skin")
        #expect(ending.output == "pump off\n")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("A skin sensor that is faulty from the start ends the run, except with --ignore-skin")
    func ignoredSensor() async throws {
        let pump = try await BenchPump()
        await pump.host.change { pump, _ in pump.setSkinThermistor(.open) }
        let ending = try await Pumpctl.run("-p", pump.port, "--json", "on", "--for", "10m")
        expectFailure(ending, 3, saying: "wire is broken")
        let objects = try ending.objects()
        #expect(objects[0]["skin_fault"] as? String == "open")
        #expect(objects[1]["state"] as? String == "off")
        #expect(objects[2]["error"] as? String == "sensor_fault")
        #expect(await pump.state() == .off)
        let ignored = try await Pumpctl.run("-p", pump.port, "on", "--for", "0.2s", "--ignore-skin")
        #expect(ignored.status == 0)
        #expect(ignored.errors.contains("warning: the skin sensor reads"))
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("A pump without thermistors ends the run, except with --ignore-skin")
    func noThermistors() async throws {
        let pump = try await BenchPump(thermistors: .zero)
        let ending = try await Pumpctl.run("-p", pump.port, "--json", "on", "--for", "10m")
        expectFailure(
            ending, 3, saying: "the pump was switched off: the skin temperature can't be read", hint: "--ignore-skin")
        let objects = try ending.objects()
        #expect(objects[0]["skin_fault"] as? String == "unreadable")
        #expect(objects[1]["state"] as? String == "off")
        #expect(objects[2]["error"] as? String == "sensor_fault")
        #expect(await pump.state() == .off)
        let ignored = try await Pumpctl.run("-p", pump.port, "on", "--for", "0.2s", "--ignore-skin")
        #expect(ignored.status == 0)
        #expect(ignored.output == "pump on at 70 %\npump off\n")
        #expect(ignored.errors.contains("warning: the skin temperature can't be read"))
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("A pump stopped by its button ends the run with 1")
    func button() async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 %")
        await pump.host.change { pump, now in pump.pressButton(at: now) }
        await pump.host.advance(by: .seconds(1))
        expectFailure(try await program.ending(), 1, saying: "button")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("An unplugged pump is switched off when it is back")
    func lost() async throws {
        let folder = TemporaryFolder()
        let link = folder.path("pump")
        let pump = try await BenchPump(link: link)
        let program = try await Pumpctl.start(["-p", link, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 %")
        await pump.close()
        #expect(try await program.errors.line().contains("the pump may be on. Reconnecting to switch it off"))
        let again = try await BenchPump(link: link, isOn: true)
        expectFailure(try await program.ending(), 74, saying: "the device is back, and the pump is off")
        #expect(await again.state() == .off)
        await again.close()
    }

    @Test("A second signal ends the wait for an unplugged pump, with the warning that it may be on")
    func lostForGood() async throws {
        let folder = TemporaryFolder()
        let link = folder.path("pump")
        let pump = try await BenchPump(link: link)
        let program = try await Pumpctl.start(["-p", link, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 %")
        await pump.close()
        #expect(try await program.errors.line().contains("a second signal gives up"))
        program.send(signal: SIGINT)
        await program.sendUntilTheEnd(signal: SIGTERM)
        expectFailure(try await program.ending(), 130, saying: "given up: the pump may be on")
    }

    @Test("A time above 30 minutes, and an invalid time, are refused", arguments: ["31m", "0", "-5s", "1m30s", "soon"])
    func range(time: String) async throws {
        let pump = try await BenchPump()
        expectFailure(
            try await Pumpctl.run("-p", pump.port, "on", "--for=\(time)"), 64, saying: "--for", "30m at most",
            hint: "pumpctl on")
        #expect(await pump.state() == .off)
        await pump.close()
    }
}
