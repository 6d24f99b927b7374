import DescriptorIO
import Foundation
import Glibc
import StrictJSON
import Testing
import TestSupport

@testable import pumpctl

@Suite("pumpctl sim")
struct SimCommandTests {
    /// A bash script that runs a program with its standard streams as the only descriptors, and with a limit of 20.
    private static let withFewDescriptors = """
        for fd in /proc/$$/fd/*; do fd=${fd##*/}; if ((fd > 2)); then eval "exec $fd>&-"; fi; done
        ulimit -n 20; exec "$0" "$@"
        """

    @Test("Clients beyond the descriptor limit do not lock out later ones")
    func descriptorsUsedUp() async throws {
        let sim = try await Pumpctl.start(
            ["sim", "pump", "--tcp", "0", "--unpaced", "--broadcast"],
            program: Shell.bash(Self.withFewDescriptors, Executable.pumpctl))
        let line = try await sim.output.line()
        let text = String(try #require(line.firstMatch(of: /tcp:127\.0\.0\.1:[0-9]+/)).output)
        let port = try #require(UInt16(text.split(separator: ":")[2]))
        var clients: [DescriptorChannel] = []
        for _ in 0..<20 {
            let address = SocketAddress.tcp(host: "127.0.0.1", port: port)
            clients.append(try await DescriptorChannel.connect(to: address, deadline: .now + patience))
        }
        for client in clients { await client.close() }
        #expect(try await Pumpctl.run("-p", text, "status").status == 0)
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test(
        "A signal removes the link of a served pump",
        arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(CInt, Int32)])
    func link(signal: CInt, status: Int32) async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let sim = try await Pumpctl.start(["sim", "pump", "--pty", "--unpaced", "--link", path])
        #expect(try await sim.output.line() == "PTY \(path)")
        #expect(try await Pumpctl.run("-p", path, "on").status == 0)
        #expect(try await Pumpctl.run("-p", path, "speed", "200").output == "speed 200 (78 %)\n")
        let answer = try await Pumpctl.run("-p", path, "--json", "status").object()
        #expect(answer["speed_percent"] as? Int == 78)
        sim.send(signal: signal)
        #expect(try await sim.ending().status == status)
        #expect(access(path, F_OK) != 0)
        var entry = stat()
        #expect(lstat(path, &entry) != 0)
    }

    @Test("--background returns once the device is ready, and prints the simulator's process ID")
    func background() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let ending = try await Pumpctl.run("sim", "pump", "--unpaced", "--link", path, "--background")
        #expect(ending.status == 0)
        #expect(ending.errors == "pumpctl: PTY \(path)\n")
        let process = try #require(pid_t(ending.output.dropLast()))
        defer { kill(process, SIGKILL) }
        #expect(try await Pumpctl.run("-p", path, "on").status == 0)
        kill(process, SIGTERM)

        let asJSON = try await Pumpctl.run("sim", "led", "--tcp", "0", "--background", "--json")
        let object = try asJSON.object()
        let other = try #require(object["pid"] as? Int)
        defer { kill(pid_t(other), SIGKILL) }
        let port = try #require(object["port"] as? String)
        #expect(try await Pumpctl.run("-p", port, "led", "get").output == "led off\n")

        let failed = try await Pumpctl.run("sim", "pump", "--link", "/nonexistent/pump", "--background")
        expectFailure(failed, 66, saying: "/nonexistent/pump", hint: "folder")
        #expect(failed.output.isEmpty)
        let failedAsJSON = try await Pumpctl.run("--json", "sim", "pump", "--link", "/nonexistent/pump", "--background")
        #expect(failedAsJSON.status == 66)
        #expect(try failedAsJSON.object()["error"] as? String == "not_found")
    }

    @Test("A control socket that can't be reached is reported with a fitting hint, and a cancelled attempt is not")
    func controlSocket() async throws {
        let folder = TemporaryFolder()
        func failure(_ name: String) async -> Failure? {
            await #expect(throws: Failure.self) {
                _ = try await SimControlCommand.ask(.object([:]), at: folder.path(name), .shared)
            }
        }
        #expect(await failure("none")?.hint?.contains("start a simulator") == true)
        #expect(await failure(String(repeating: "n", count: 200))?.hint?.contains("start a simulator") == false)
        let script = """
            import socket, sys
            path, all = sys.argv[1], [socket.socket(socket.AF_UNIX) for _ in range(9)]
            all[0].bind(path); all[0].listen(0)
            for client in all[1:]: client.setblocking(False); client.connect_ex(path)
            print('full', flush=True); sys.stdin.read()
            """
        let busy = try await ChildProcess(["python3", "-c", script, folder.path("busy")])
        _ = try await busy.output.line("a full backlog")
        let asking = Task { try await SimControlCommand.ask(.object([:]), at: folder.path("busy"), .shared) }
        asking.cancel()
        let error = await #expect(throws: DescriptorError.self) { _ = try await asking.value }
        #expect(error?.code == .cancelled)
        await busy.closeInput()
        _ = try await busy.ending()
    }

    /// Parses a line of JSON.
    private static func object(_ line: String?) throws -> NSDictionary {
        let json = try JSONSerialization.jsonObject(with: Data(try #require(line).utf8))
        return try #require(json as? NSDictionary)
    }

    @Test("--count numbers the devices in their links")
    func count() async throws {
        let folder = TemporaryFolder()
        let sim = try await Pumpctl.start([
            "sim", "pump", "--unpaced", "--count", "3", "--link", folder.path("pump-%d"), "--json",
        ])
        var ports: [Int: String] = [:]
        for _ in 1...3 {
            let record = try Self.object(await sim.output.line())
            #expect(record["event"] as? String == "ready")
            ports[try #require(record["number"] as? Int)] = try #require(record["port"] as? String)
        }
        #expect(ports == [1: folder.path("pump-1"), 2: folder.path("pump-2"), 3: folder.path("pump-3")])
        #expect(try await Pumpctl.run("-p", folder.path("pump-2"), "on").status == 0)
        for (number, state) in [(1, "off"), (2, "on"), (3, "off")] {
            let status = try await Pumpctl.run("-p", folder.path("pump-\(number)"), "--json", "status").object()
            #expect(status["state"] as? String == state)
        }
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).isEmpty)
    }

    @Test("--count uses one TCP port per device, and requires %d in --link")
    func countOfPorts() async throws {
        let sim = try await Pumpctl.start(["sim", "led", "--count", "2", "--tcp", "0", "--json"])
        let first = try #require(try Self.object(await sim.output.line())["port"] as? String)
        let second = try #require(try Self.object(await sim.output.line())["port"] as? String)
        #expect(first != second)
        #expect(try await Pumpctl.run("-p", first, "led", "on").status == 0)
        #expect(try await Pumpctl.run("-p", second, "led", "get").output == "led off\n")
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()

        for (arguments, text) in [
            (["--link", "/tmp/pump"], "%d"), (["--tcp", "65535"], "65535"), (["--ble"], "--count"),
        ] {
            let ending = try await Pumpctl.start(["sim", "led", "--count", "2"] + arguments).ending()
            expectFailure(ending, 64, saying: text)
        }
        expectFailure(try await Pumpctl.run("sim", "led", "--count", "0"), 64, saying: "1 to 100000")
    }

    @Test("sim ctl works at the socket of --control: it presses the button and ends the simulator")
    func control() async throws {
        let folder = TemporaryFolder()
        let (port, control) = (folder.path("pump"), folder.path("control"))
        let sim = try await Pumpctl.start(["sim", "pump", "--unpaced", "--link", port, "--control", control])
        #expect(try await sim.output.line() == "PTY \(port)")
        let off = try await Pumpctl.run("sim", "ctl", control, "state")
        #expect(off.output.contains("state: off\n"), "\(off)")
        #expect(try await Pumpctl.run("sim", "ctl", control, "press").status == 0)
        let running = try await Pumpctl.run("--json", "sim", "ctl", control, "advance", "1s").object()
        #expect(running["state"] as? String == "on")
        #expect(running["ok"] as? Bool == true)
        #expect(try await Pumpctl.run("-p", port, "--json", "status").object()["state"] as? String == "on")
        let cold = try await Pumpctl.run("--json", "sim", "ctl", control, "temperature", "skin", "-5").object()
        #expect(try #require(cold["skin_temp_c"] as? Double) < 0)

        expectFailure(try await Pumpctl.run("sim", "ctl", control, "jiggle"), 64, saying: "jiggle", hint: "press")
        let second = try await Pumpctl.run("sim", "led", "--control", control)
        expectFailure(second, 69, saying: control, hint: "choose another path")
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").output == "ok\n")
        #expect(try await sim.ending().status == 0)
        #expect(access(control, F_OK) != 0)
        #expect(access(port, F_OK) != 0)
        expectFailure(try await Pumpctl.run("sim", "ctl", control, "stop"), 66, saying: control, hint: "--control")
    }

    @Test("An unusable path for --control is refused")
    func controlNowhere() async throws {
        expectFailure(
            try await Pumpctl.run("sim", "pump", "--control", "/nonexistent/control"), 66,
            saying: "/nonexistent/control")
        let folder = TemporaryFolder()
        let file = folder.write("mine", to: "file")
        expectFailure(try await Pumpctl.run("sim", "pump", "--control", file), 69, saying: file)
        expectFailure(try await Pumpctl.run("sim", "ctl", file, "state"), 66, saying: file)
    }

    @Test("More devices than the soft limit of descriptors are served")
    func moreThanTheSoftLimit() async throws {
        let sim = try await Pumpctl.start(
            ["sim", "led", "--count", "150"],
            program: Shell.bash("ulimit -Sn 100; exec \"$0\" \"$@\"", Executable.pumpctl))
        for _ in 1...150 { #expect(try await sim.output.line().hasPrefix("PTY /dev/pts/")) }
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
    }

    @Test("--run serves during a command, prints nothing and exits with its status")
    func runs() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let ending = try await Pumpctl.run(
            "sim", "pump", "--unpaced", "--link", path, "--run", "--", "sh", "-c",
            "echo $PUMPCTL_PORT $PUMPCTL_PORT_PUMP; \"$0\" on; exit 7", Executable.pumpctl)
        #expect(ending.status == 7)
        #expect(ending.output == "\(path) \(path)\npump on at 50 %\n")
        #expect(ending.errors == "")
        #expect(access(path, F_OK) != 0)

        let control = folder.path("control")
        let controlled = try await Pumpctl.run(
            "sim", "pump", "--unpaced", "--control", control, "--run", "--", "sh", "-c",
            "\"$0\" sim ctl $PUMPCTL_CONTROL press && \"$0\" sim ctl $PUMPCTL_CONTROL advance 1s", Executable.pumpctl)
        #expect(controlled.status == 0)
        #expect(controlled.output.contains("state: on\n"))
        let deaf = try await Pumpctl.start(
            ["sim", "led", "--run", "--", "sh", "-c", "exit 7"],
            program: ["/usr/bin/env", "--ignore-signal=CHLD", Executable.pumpctl]
        ).ending()
        #expect(deaf.status == 7, "its parent has ignored SIGCHLD")
        let killed = try await Pumpctl.run("sim", "led", "--run", "--", "sh", "-c", "kill -KILL $$")
        #expect(killed.status == 137)
        #expect(try await Pumpctl.run("sim", "led", "--run", "--", "true").status == 0)
    }

    @Test("--run keeps the device until the command has ended, also after a signal")
    func runsInterrupted() async throws {
        let sim = try await Pumpctl.start([
            "sim", "pump", "--unpaced", "--run", "--", "sh", "-c",
            "trap '\"$0\" off; exit 3' TERM; \"$0\" on; while :; do sleep 0.01; done", Executable.pumpctl,
        ])
        #expect(try await sim.output.line() == "pump on at 50 %")
        sim.send(signal: SIGTERM)
        #expect(try await sim.output.line() == "pump off")
        #expect(try await sim.ending().status == 143)
    }

    @Test("--run reports a command that cannot be run")
    func runsNothing() async throws {
        expectFailure(
            try await Pumpctl.run("sim", "led", "--run", "--", "nosuchprogram"), 127, saying: "nosuchprogram",
            hint: "sh -c")
        expectFailure(try await Pumpctl.run("sim", "led", "--run", "--", "/"), 126, saying: "/")
        expectFailure(try await Pumpctl.run("sim", "led", "--run"), 64, saying: "--run")
        expectFailure(try await Pumpctl.run("sim", "led", "--", "true"), 64, saying: "--run")
        let background = try await Pumpctl.run("sim", "led", "--background", "--run", "--", "true")
        expectFailure(background, 64, saying: "--background")
        expectFailure(
            try await Pumpctl.run("sim", "led", "--link", "/nonexistent/led", "--run", "--", "true"), 66,
            saying: "/nonexistent/led")
    }

    @Test("A link without a folder is printed as ./NAME")
    func bareLink() async throws {
        let folder = TemporaryFolder()
        let sim = try await Pumpctl.start(
            ["sim", "pump", "--unpaced", "--link", "pump"],
            program: ["/bin/sh", "-c", "cd \(folder.path) && exec \"$0\" \"$@\"", Executable.pumpctl])
        #expect(try await sim.output.line() == "PTY ./pump")
        let wrong = try await Pumpctl.start(
            ["-p", "pump", "status"],
            program: ["/bin/sh", "-c", "cd \(folder.path) && exec \"$0\" \"$@\"", Executable.pumpctl]
        ).ending()
        expectFailure(wrong, 64, saying: "pump: not a valid endpoint", hint: "write the port with its path: ./pump")
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test("A relative link is passed to the command as an absolute path", arguments: ["pump", "./pump", "sub/pump"])
    func relativeLink(link: String) async throws {
        let folder = TemporaryFolder()
        let command = #"cd / && "$0" led get; "$0" sim ctl "$PUMPCTL_CONTROL" state --json"#
        let ending = try await Pumpctl.start(
            ["sim", "led", "--lit", "--link", link, "--control", "control", "--run", "--", "sh", "-c", command]
                + [Executable.pumpctl],
            program: ["/bin/sh", "-c", "cd \(folder.path) && mkdir sub && exec \"$0\" \"$@\"", Executable.pumpctl]
        ).ending()
        #expect(ending.output.hasPrefix("led on\n"), "\(ending)")
        let port = folder.path(link.replacing("./", with: ""))
        #expect(ending.output.contains("\"port\":\"\(port)\""), "\(ending)")
    }

    @Test("A relative port with a folder needs no ./")
    func relativePort() async throws {
        let folder = TemporaryFolder()
        let ending = try await Pumpctl.start(
            [
                "sim", "led", "--lit", "--link", "sub/led", "--run", "--", Executable.pumpctl, "-p", "sub/led", "led",
                "get",
            ],
            program: ["/bin/sh", "-c", "cd \(folder.path) && mkdir sub && exec \"$0\" \"$@\"", Executable.pumpctl]
        ).ending()
        #expect(ending.output == "led on\n", "\(ending)")
    }

    @Test(
        "As process 1 of a container sim reaps orphans and passes signals on",
        .enabled(if: geteuid() == 0, "Only root may make a container"))
    func processOne() async throws {
        let command = """
            orphan=$(true & echo $!)
            while kill -0 $orphan 2>/dev/null; do :; done
            trap 'echo ended; exit 7' TERM
            echo reaped
            kill -TERM 1
            while :; do :; done
            """
        let ending = try await ChildProcess([
            "timeout", "-s", "KILL", "60", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
            Executable.pumpctl, "sim", "led", "--run", "--", "sh", "-c", command,
        ]).ending()
        #expect(ending.output == "reaped\nended\n", "\(ending)")
        #expect(ending.status == 143, "\(ending)")
    }

    @Test(
        "Without /dev/pts the error suggests remedies",
        .enabled(if: geteuid() == 0, "Only root may mount a file system"))
    func noTerminals() async throws {
        let script = "mount -t tmpfs none /dev/pts && exec \"$0\" sim pump"
        let ending = try await ChildProcess(["unshare", "--mount", "sh", "-c", script, Executable.pumpctl]).ending()
        expectFailure(ending, 74, saying: "creating the pseudo-terminal", hint: "docker run -t")
        #expect(ending.errors.contains("mount -t devpts") && ending.errors.contains("--tcp 0"), "\(ending)")
    }

    @Test("A path in use by another simulator, and a file, are refused and left alone")
    func takenPath() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let sim = try await Pumpctl.start(["sim", "pump", "--link", path])
        _ = try await sim.output.line()
        let second = try await Pumpctl.run("sim", "pump", "--link", path)
        expectFailure(second, 69, saying: path, "in use", hint: "choose another path")
        #expect(try await Pumpctl.run("-p", path, "status").status == 0)

        let file = folder.write("mine", to: "file")
        let third = try await Pumpctl.run("sim", "pump", "--link", file)
        expectFailure(third, 69, saying: file, hint: "choose another path")
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test("A link in a missing folder is refused")
    func noFolder() async throws {
        let ending = try await Pumpctl.run("sim", "pump", "--link", "/proc/nowhere/pump")
        expectFailure(ending, 66, saying: "/proc/nowhere/pump", hint: "folder")
    }

    @Test("A stale link is replaced")
    func staleLink() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        // A link like that of a killed simulator. No other test's pseudo-terminal can get this number.
        #expect(symlink("/dev/pts/999999", path) == 0)
        let second = try await Pumpctl.start(["sim", "pump", "--link", path])
        #expect(try await second.output.line() == "PTY \(path)")
        #expect(try await Pumpctl.run("-p", path, "status").status == 0)
        second.send(signal: SIGTERM)
        _ = try await second.ending()
    }

    @Test(
        "--knob sets the speed after ON, half-way by default",
        arguments: [([], 50), (["--knob", "716"], 70), (["--knob", "0"], 0), (["--knob=1023"], 100)])
    func knob(options: [String], percent: Int) async throws {
        let sim = try await Pumpctl.start(["sim", "pump", "--tcp", "0", "--unpaced"] + options)
        let line = try await sim.output.line()
        let port = String(try #require(line.firstMatch(of: /tcp:127\.0\.0\.1:[0-9]+/)).output)
        #expect(try await Pumpctl.run("-p", port, "on").status == 0)
        // The firmware handles STATUS in a later turn of its main loop than ON. In that turn it reads the knob first.
        let status = try await Pumpctl.run("-p", port, "--json", "status").object()
        #expect(status["speed_percent"] as? Int == percent)
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test("sim:pump has a knob, half-way by default", arguments: [("", 50), ("?knob=1023", 100)])
    func knobInside(options: String, percent: Int) async throws {
        let console = try await Pumpctl.start(["-p", "sim:pump\(options)", "console", "--quiet", "0.1"])
        try await console.write("ON\nSTATUS\n")
        await console.closeInput()
        let ending = try await console.ending()
        #expect(ending.output.contains("Speed:\(percent)%"), "\(ending)")
    }

    @Test(
        "The options of a simulator are accepted in a sim: endpoint and by pumpctl sim",
        arguments: [
            // The board is still starting, so the query is repeated after half of the time-out.
            ["-p", "sim:pump?banner=hello&baud=115200", "--timeout", "6", "status"],
            ["-p", "sim:pump?unpaced", "status"],
            ["-p", "sim:led?mute&lit&baud=9600", "led", "get"], ["-p", "sim:led?unpaced=off", "led", "get"],
            ["-p", "sim:storm?interval=off&rows=3&baud=9600", "storm", "log", "get", "--quiet", "0.2"],
            ["-p", "sim:rescue?hoard&interval=0&unpaced", "send", "X", "--no-answer"],
            ["sim", "rescue", "--forwards", "--help"],
        ])
    func bothSpellings(arguments: [String]) async throws {
        let ending = try await Pumpctl.start(arguments).ending()
        #expect(ending.status == 0, "\(ending)")
    }

    @Test(
        "Help lists the faults, the device's own first",
        arguments: [("pump", "baud, "), ("peer", "no_file_selected, ")])
    func faultsInHelp(family: String, first: String) async throws {
        let ending = try await Pumpctl.start(["sim", family, "--help"]).ending()
        let help = ending.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(help.contains("(faults: \(first)"), "\(help)")
        #expect(help.contains(", twice, unplug)"), "\(help)")
    }

    @Test(
        "An invalid option is reported in the spelling that was used",
        arguments: [
            (["sim", "pump", "--knob", "half"], "--knob takes a number from 0 to 1023"),
            (["sim", "pump", "--knbo", "3"], "Did you mean '--knob'?"),
            (["sim", "pump", "--name", "x"], "--name needs --ble"),
            (["sim", "led", "--ble", "--baud", "9600"], "--ble cannot be combined with --baud: there is no line"),
            (["sim", "rescue", "--hoard", "--forwards"], "--forwards cannot be combined with --hoard"),
            (["sim", "peer", "--fault", "xxxxx"], "use one of: no_file_selected, "),
            (["-p", "sim:pump?knob=half", "status"], "set knob to a number from 0 to 1023"),
            (
                ["-p", "sim:pump?name=x", "status"],
                "'sim:' takes the options banner, baud, debug-lines, fault, idle-times, interrupts, knob, line-end, "
            ),
            (
                ["sim", "led", "--ble", "--fault", "delay", "--fault", "drop"],
                "the fault drop needs a line"
            ),
            (["sim", "led", "--fault", "lost"], "the fault lost needs BLE"),
            (["-p", "sim:led?fault=delay,lost", "led", "get"], "leave out the fault lost"),
            (
                ["-p", "sim:storm?interval=x", "send", "X"],
                "set interval to a time above 0, up to 1000000 s, as 500ms or 2s, or off"
            ),
            (["-p", "sim:peer?image=/dev/null", "send", "X"], "/dev/null is not a PNG"),
            (["-p", "sim:peer?image=a.png&size=200", "send", "X"], "leave out image, or seed and size"),
        ])
    func words(arguments: [String], text: String) async throws {
        let ending = try await Pumpctl.start(arguments).ending()
        #expect(ending.status == 64)
        #expect(ending.errors.contains(text), "\(ending)")
    }

    @Test("--tcp listens only on 127.0.0.1 and disconnects a second client with a note")
    func oneClientOfThisMachine() async throws {
        let sim = try await Pumpctl.start(["sim", "pump", "--tcp", "0", "--unpaced"])
        let line = try await sim.output.line()
        let text = String(try #require(line.firstMatch(of: /tcp:127\.0\.0\.1:[0-9]+/)).output)
        let port = try #require(UInt16(text.split(separator: ":")[2]))
        // All of 127/8 is this machine, so a server that listens on every address also listens on 127.0.0.2.
        await #expect(throws: DescriptorError.self) {
            try await DescriptorChannel.connect(
                to: .tcp(host: "127.0.0.2", port: port), deadline: .now + patience
            ).leave()
        }
        let address = SocketAddress.tcp(host: "127.0.0.1", port: port)
        let first = try await DescriptorChannel.connect(to: address, deadline: .now + patience)
        // The reply shows that the simulator has accepted the first client.
        try await first.write(Array("TEMP\n".utf8))
        _ = try await first.read()
        let second = try await DescriptorChannel.connect(to: address, deadline: .now + patience)
        await #expect(throws: DescriptorError.self) { while try await second.read() != nil {} }
        await first.leave()
        #expect(try await Pumpctl.run("-p", text, "status").status == 0)
        sim.send(signal: SIGTERM)
        let ending = try await sim.ending()
        #expect(ending.errors.contains("a second client was disconnected"), "\(ending)")
        #expect(ending.errors.contains("--broadcast"))
    }

    @Test("--tcp 0 chooses a free port and prints it")
    func tcp() async throws {
        let sim = try await Pumpctl.start(["sim", "pump", "--tcp", "0", "--thermistors", "1", "--json"])
        let line = try await sim.output.line()
        let port = try #require(line.firstMatch(of: /tcp:127\.0\.0\.1:[0-9]+/)).output
        #expect(try await Pumpctl.run("-p", String(port), "on").status == 0)
        let temperatures = try await Pumpctl.run("-p", String(port), "temp")
        #expect(temperatures.output.hasPrefix("temp  "))

        let number = String(port.split(separator: ":")[2])
        expectFailure(try await Pumpctl.run("sim", "pump", "--tcp", number), 69, saying: number, hint: "--tcp 0")
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
        expectFailure(
            try await Pumpctl.run("-p", String(port), "status"), 66, saying: String(port), hint: "start the server")
    }

    @Test("With 0 thermistors, the simulated pump has unknown temperatures", arguments: [true, false])
    func noThermistors(isInside: Bool) async throws {
        guard !isInside else {
            let status = try await Pumpctl.run("-p", "sim:pump?thermistors=0", "status")
            #expect(status.output.hasSuffix("skin   unknown (the pump says '?C')\n"), "\(status)")
            return
        }
        let sim = try await Pumpctl.start(["sim", "pump", "--tcp", "0", "--thermistors", "0", "--json"])
        let port = try #require(try await sim.output.line().firstMatch(of: /tcp:127\.0\.0\.1:[0-9]+/)).output
        let temperatures = try await Pumpctl.run("-p", String(port), "send", "TEMP")
        #expect(temperatures.output == "TEMP:{Water:?C,Skin:?C}\n")
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test(
        "Conflicting or out-of-range options are refused",
        arguments: [
            ["--tcp", "0", "--pty"], ["--tcp", "0", "--link", "/tmp/x"], ["--thermistors", "3"], ["--baud", "0"],
            ["--tcp", "70000"], ["--broadcast"], ["--broadcast", "--pty"], ["--banner", "loud"], ["--knob", "1024"],
            ["--knob", "half"],
        ])
    func wrongOptions(options: [String]) async throws {
        expectFailure(
            try await Pumpctl.start(["sim", "pump"] + options).ending(), 64, saying: "pumpctl: ", hint: "pumpctl sim")
    }
}
