import DescriptorIO
import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import DeviceKit
@testable import pumpctld

@Suite("Running pumpctld", .timeLimit(.minutes(5)))
struct DaemonTests {
    /// Starts pumpctld in the ``ChildProcess/surroundings``, with `more` added to the environment.
    private static func start(_ arguments: [String], _ more: [String: String] = [:]) async throws -> ChildProcess {
        let environment = ChildProcess.surroundings.merging(more) { $1 }
        return try await ChildProcess([Executable.pumpctld] + arguments, environment: environment)
    }

    @Test("A pump is shared at a socket and a pseudo-terminal, and keeps running when pumpctld ends")
    func serving() async throws {
        let pump = try await PumpBehindTerminal()
        let file = pump.folder.write(
            """
            [device.pump]
            endpoint = "\(pump.port)"
            pty = "\(pump.folder.path("pty"))"
            unix = "\(pump.folder.path("socket"))"
            """, to: "pumpctld.toml")
        // Twice, because remains of the first run, such as its socket, must not disturb the second.
        for round in 0..<2 {
            let daemon = try await Self.start(["--config", file, "--verbose"])
            try await daemon.errors.text(upTo: "the link is open")
            let client = try await ShareClient(socket: pump.folder.path("socket"))
            if round == 0 {
                try await client.ask("ON", for: "PUMP:ON\r\n")
            } else {
                try await client.ask("STATUS", for: "STATUS:{State:ON")
            }
            let other = try await ShareClient(terminal: pump.folder.path("pty"))
            try await other.ask("STATUS", for: "STATUS:{State:ON")
            daemon.send(signal: round == 0 ? SIGTERM : SIGINT)
            let ending = try await daemon.ending()
            #expect(ending.status == (round == 0 ? 0 : 128 + SIGINT))
            #expect(ending.output == "")
            #expect(
                ending.errors.contains("info command client=\"pid \(getpid()) of user \(geteuid())\"") == (round == 0))
            #expect(access(pump.folder.path("socket"), F_OK) != 0)
            var link = stat()
            #expect(lstat(pump.folder.path("pty"), &link) != 0)
            await client.channel.close()
            await other.channel.close()
        }
        #expect(!pump.received.state.text.contains("OFF"))
        #expect(pump.resets.state == 0)
        let direct = try await ShareClient(terminal: pump.port)
        try await direct.ask("STATUS", for: "STATUS:{State:ON")
        await direct.channel.close()
        await pump.close()
    }

    @Test("--record writes the traffic and the values to the history")
    func recording() async throws {
        let pump = try await PumpBehindTerminal()
        let home = ["XDG_DATA_HOME": pump.folder.path]
        let daemon = try await Self.start(
            ["--port", pump.port, "--unix", pump.folder.path("socket"), "--record"], home)
        try await daemon.errors.text(upTo: "the link is open")
        let client = try await ShareClient(socket: pump.folder.path("socket"))
        try await client.ask("ON", for: "PUMP:ON\r\n")
        try await client.ask("STATUS", for: "STATUS:{State:ON")
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        let environment = ChildProcess.surroundings.merging(home) { $1 }
        let values = try await ChildProcess([Executable.pumpctl, "history", "--json"], environment: environment)
            .ending()
        #expect(values.output.contains(#""kind":"status""#) && values.output.contains("skin_temp_c"), "\(values)")
        let history = try await ChildProcess(
            [Executable.pumpctl, "history", "--events", "--csv"], environment: environment
        ).ending()
        #expect(history.output.contains(",sent,ON"), "\(history)")
        #expect(history.output.contains(",received,PUMP:ON"), "\(history)")
        await client.channel.close()
        await pump.close()
    }

    @Test("A missing device is reported once, and its clients' commands are refused")
    func away() async throws {
        let folder = TemporaryFolder()
        let daemon = try await Self.start(["--port", folder.path("none"), "--unix", folder.path("socket")])
        try await daemon.errors.text(upTo: "can't open the link; retrying")
        let client = try await ShareClient(socket: folder.path("socket"))
        try await client.ask("ON", for: "ERROR:DEVICE_AWAY\r\n")
        daemon.send(signal: SIGTERM)
        let ending = try await daemon.ending()
        #expect(ending.status == 0)
        #expect(!ending.errors.contains("can't open the link"))
        #expect(
            ending.errors.contains(
                "a command was not sent client=\"pid \(getpid()) of user \(geteuid())\" device=pump line=ON"))
        await client.channel.close()
    }

    @Test("A busy port is reported with its holder, and opened when the holder ends")
    func busy() async throws {
        let pump = try await PumpBehindTerminal()
        let holder = try await Self.start(["--port", pump.port])
        try await holder.errors.text(upTo: "the link is open")
        let daemon = try await Self.start(["--port", pump.port, "--name", "second"])
        let line = try await daemon.errors.text(upTo: "pumpctld (pid \(holder.processID))")
        #expect(line.contains("warning can't open the link; retrying device=second"))
        holder.send(signal: SIGTERM)
        try await holder.ending()
        try await daemon.errors.text(upTo: "the link is open device=second")
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await pump.close()
    }

    @Test("If the path of the default control socket is taken, pumpctld listens at a path with its process ID")
    func takenMeanwhile() async throws {
        let pump = try await PumpBehindTerminal()
        let folder = TemporaryFolder()
        #expect(mkdir(folder.path("pumpctl"), 0o700) == 0)
        _ = folder.write("", to: "pumpctl/pumpctld")
        let daemon = try await Self.start(["--port", pump.port], ["XDG_RUNTIME_DIR": folder.path])
        try await daemon.errors.text(upTo: "the link is open")
        #expect(access(folder.path("pumpctl/pumpctld-\(daemon.processID)"), F_OK) == 0)
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await pump.close()
    }

    @Test(
        "pumpctl names a stopped pumpctld at once, with the command that resumes it", arguments: ["shared:pump", nil])
    func stopped(endpoint: String?) async throws {
        let pump = try await PumpBehindTerminal()
        let socket = pump.folder.path("daemon")
        let daemon = try await Self.start(["--port", pump.port, "--socket", socket])
        try await daemon.errors.text(upTo: "the link is open")
        daemon.send(signal: SIGSTOP)
        try await daemon.untilStopped()
        let attachment = DaemonAttachment(
            target: .name("pump"), linkName: "shared:pump", patience: .seconds(1000), loop: .shared)
        let error = await #expect(throws: DaemonError.self) {
            try await attachment.link(at: [DaemonSocket(path: socket)])
        }
        #expect(error?.stopped?.processID == daemon.processID)
        let environment = ["PUMPCTLD_SOCKET": socket, "HOME": pump.folder.path]
        let ending = try await ChildProcess(
            [Executable.pumpctl, "-p", endpoint ?? pump.port, "off"],
            environment: ChildProcess.surroundings.merging(environment) { $1 }
        ).ending()
        #expect(ending.status == 69, "\(ending)")
        #expect(ending.errors.contains("pumpctld (pid \(daemon.processID))"), "\(ending)")
        #expect(ending.errors.contains("OFF was not sent: the pump may be on"), "\(ending)")
        #expect(ending.errors.contains("hint: resume it: kill -CONT \(daemon.processID)"), "\(ending)")
        daemon.send(signal: SIGCONT)
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        #expect(!pump.received.state.text.contains("OFF"))
        await pump.close()
    }

    @Test("Changes sent while pumpctld was stopped are refused; OFF and queries are not", arguments: ["socket", "pty"])
    func paused(share: String) async throws {
        let pump = try await PumpBehindTerminal()
        let (socket, pty) = (pump.folder.path("share"), pump.folder.path("pty"))
        let daemon = try await Self.start(
            ["--port", pump.port, "--socket", pump.folder.path("daemon"), "--unix", socket, "--pty", pty])
        try await daemon.errors.text(upTo: "the link is open")
        /// Stops the daemon, sends a line from a client that leaves immediately, calls `also`, and resumes the daemon.
        func pause(saying line: String, also: () async throws -> Void = {}) async throws {
            daemon.send(signal: SIGSTOP)
            try await daemon.untilStopped()
            let leaving = try await share == "pty" ? ShareClient(terminal: pty) : ShareClient(socket: socket)
            try await leaving.say(line)
            await leaving.channel.close()
            try await also()
            daemon.send(signal: SIGCONT)
        }
        let staying = try await ShareClient(socket: socket)
        try await staying.ask("STATUS", for: "STATUS:{State:OFF")
        var new: ShareClient?
        try await pause(saying: "ON") {
            try await staying.say("ON\nSTATUS")
            let client = try await ShareClient(socket: socket)
            try await client.say("SPEED:100")
            new = client
        }
        try await staying.received.text(upTo: "ERROR:DEVICE_AWAY")
        try await staying.received.text(upTo: "STATUS:{State:OFF")
        try await new?.received.text(upTo: "ERROR:DEVICE_AWAY")
        for _ in 0..<3 { try await daemon.errors.text(upTo: "reason=\"pumpctld was suspended\"") }
        #expect(["ON", "SPEED"].allSatisfy { !pump.received.state.text.contains($0) })
        // The daemon may refuse an ON until it has handled all lines from the time of the stop.
        repeat { try await staying.say("ON") } while try await !staying.received.text(upTo: "\n").contains("PUMP:ON")
        try await pause(saying: "OFF")
        try await pump.received.text(upTo: "OFF")
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await staying.channel.close()
        await new?.channel.close()
        await pump.close()
    }

    @Test("A message sent while pumpctld was stopped reaches the peer")
    func messageInPause() async throws {
        let folder = TemporaryFolder()
        let listener = try await SocketListener.listen(at: .unix(path: folder.path("peer")))
        let daemon = try await Self.start(
            ["--port", "unix:\(folder.path("peer"))", "--family", "peer", "--unix", folder.path("share")]
                + ["--socket", folder.path("daemon")])
        let peer = try await #require(try listener.accept())
        let received = Watched(ReceivedText())
        await peer.gather(into: received)
        try await daemon.errors.text(upTo: "the link is open")
        daemon.send(signal: SIGSTOP)
        try await daemon.untilStopped()
        let client = try await ShareClient(socket: folder.path("share"))
        try await client.say("help is on its way")
        daemon.send(signal: SIGCONT)
        try await received.text(upTo: "help is on its way")
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        for channel in [client.channel, peer] { await channel.close() }
        await listener.close()
    }

    @Test("The service manager gets notifications of readiness, life signs, and the end")
    func notices() async throws {
        let folder = TemporaryFolder()
        // An abstract socket: in its address a NUL stands for the "@".
        let name = "@pumpctld-notices-\(getpid())"
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.dropFirst().copyBytes(from: name.utf8.dropFirst()) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(2 + name.utf8.count))
            }
        }
        try #require(bound == 0)
        let channel = DescriptorChannel(taking: descriptor, kind: .socket)
        let notices = Watched(ReceivedText())
        await channel.gather(into: notices)
        let daemon = try await Self.start(
            ["--port", folder.path("none"), "--unix", folder.path("socket")],
            ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "20000"])
        try await notices.text(upTo: "READY=1\nSTATUS=pump waiting")
        let client = try await ShareClient(socket: folder.path("socket"))
        try await notices.text(upTo: "WATCHDOG=1WATCHDOG=1")
        daemon.send(signal: SIGTERM)
        try await notices.text(upTo: "STOPPING=1")
        #expect(try await daemon.ending().status == 0)
        await client.channel.close()
        await channel.close()
    }

    @Test("The log has the journal's format if standard error is the journal")
    func journal() async throws {
        let daemon = try await ChildProcess([
            "/bin/sh", "-c",
            "export JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2); exec \"$0\" --port /nowhere/x",
            Executable.pumpctld,
        ])
        try await daemon.errors.text(upTo: "<5>serving devices=pump\n<4>can't open the link; retrying device=pump ")
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
    }

    @Test("The soft limit of descriptors is raised to the hard limit")
    func descriptorLimit() async throws {
        let daemon = try await ChildProcess([
            "/bin/sh", "-c", "ulimit -S -n 64; exec \"$0\" --port /nowhere/x", Executable.pumpctld,
        ])
        try await daemon.errors.text(upTo: "serving devices=pump")
        let limits = try #require(TextFile.contents(of: "/proc/\(daemon.processID)/limits"))
        let words = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }?.split(separator: " ")
        #expect(words?[3] == words?[4] && words?[3] != "64", "\(limits)")
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
    }

    // MARK: Failures to start

    /// Expects that pumpctld exits with `status`, a message that contains `words`, and a hint that contains `hint`.
    private func expectFailure(
        _ arguments: [String], _ status: DaemonFailure.Status, _ words: String, hint: String,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let ending = try await Self.start(arguments).ending()
        #expect(ending.status == status.rawValue, "\(ending)", sourceLocation: location)
        #expect(ending.output == "", sourceLocation: location)
        let lines = ending.errors.split(separator: "\n")
        #expect(lines.count == 2, "\(ending.errors)", sourceLocation: location)
        #expect(lines.first?.hasPrefix("pumpctld: ") == true, sourceLocation: location)
        #expect(lines.first?.contains(words) == true, "\(ending.errors)", sourceLocation: location)
        #expect(lines.last?.hasPrefix("  hint: ") == true, sourceLocation: location)
        #expect(lines.last?.contains(hint) == true, "\(ending.errors)", sourceLocation: location)
    }

    @Test("pumpctld does not start if a share's address is taken, and touches no device")
    func taken() async throws {
        let pump = try await PumpBehindTerminal()
        let folder = pump.folder
        let file = folder.write("x", to: "file")
        let listener = try await SocketListener.listen(at: .unix(path: folder.path("socket")))
        let port = try await SocketListener.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let number = try #require(port.port)
        let start = ["--port", pump.port]
        try await expectFailure(
            start + ["--unix", folder.path("socket")], .unavailable,
            "\(folder.path("socket")): already in use",
            hint: "program that listens there")
        try await expectFailure(start + ["--unix", file], .unavailable, "\(file): not a socket", hint: "remove it")
        try await expectFailure(start + ["--pty", file], .unavailable, "\(file): already in use", hint: "remove the")
        try await expectFailure(
            start + ["--tcp", "\(number)"], .unavailable, "tcp:127.0.0.1:\(number): already in use",
            hint: "another port")
        try await expectFailure(
            start + ["--unix", folder.path("a/b")], .noInput, "the folder does not exist", hint: "create the folder")
        try await expectFailure(
            start + ["--pty", folder.path("a/b")], .noInput, "the folder does not exist", hint: "folder")
        // Everything opened before the failure is removed again.
        try await expectFailure(
            start + ["--pty", folder.path("pty"), "--unix", file], .unavailable, "not a socket", hint: "remove it")
        var link = stat()
        #expect(lstat(folder.path("pty"), &link) != 0)
        #expect(pump.received.state.bytes.isEmpty)
        await listener.close()
        await port.close()
        await pump.close()
    }

    @Test("pumpctld does not start with a wrong or missing configuration")
    func configuration() async throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "[daemon]\ngroup = \"no-such-group\"\n[device.a]\nendpoint = \"/dev/x\"", to: "group.toml")
        try await expectFailure(["--config", file], .usage, "unknown group 'no-such-group'", hint: "groupadd")
        let escape = folder.write("[device.a]\nendpoint = \"\\u001B[31m\"", to: "escape.toml")
        try await expectFailure(["--config", escape], .usage, "'\\x1b[31m' is not an endpoint", hint: "path")
        try await expectFailure(["--config", folder.path("none")], .noInput, "No such file", hint: "--config")
        let option = folder.write(
            "[device.a]\nendpoint = \"/dev/x?\"\n[device.b]\nendpoint = \"serial:/dev/y?bad=1\"", to: "option.toml")
        let ending = try await Self.start(["--config", option]).ending()
        #expect(ending.status == 64)
        #expect(ending.errors.contains("[device.b] endpoint: 'serial:/dev/y?bad=1' is not an endpoint"))
    }

    @Test("The socket of a killed pumpctld is replaced")
    func killed() async throws {
        let folder = TemporaryFolder()
        let arguments = ["--port", folder.path("none"), "--unix", folder.path("socket")]
        let first = try await Self.start(arguments)
        try await first.errors.text(upTo: "serving")
        first.send(signal: SIGKILL)
        try await first.ending()
        let second = try await Self.start(arguments)
        try await second.errors.text(upTo: "serving")
        second.send(signal: SIGTERM)
        #expect(try await second.ending().status == 0)
    }

    @Test(
        "Sockets and pseudo-terminals are open to the configured group",
        .enabled(if: geteuid() == 0, "only root can give a file to any group"))
    func group() async throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            """
            [daemon]
            group = "dialout"
            [device.a]
            endpoint = "/nowhere/x"
            pty = "\(folder.path("pty"))"
            unix = "\(folder.path("socket"))"
            """, to: "pumpctld.toml")
        let daemon = try await Self.start(["--config", file])
        // Only its owner can enter the test's folder, like the runtime folder of a user's daemon.
        try await daemon.errors.text(upTo: "warning the group can't reach the socket")
        try await daemon.errors.text(upTo: "serving")
        let group = try #require(getgrnam("dialout")).pointee.gr_gid
        for name in ["pty", "socket"] {
            var status = stat()
            #expect(stat(folder.path(name), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o660)
            #expect(status.st_gid == group)
        }
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
    }
}
