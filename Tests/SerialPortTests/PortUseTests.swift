import Glibc
import TestSupport
import Testing

@testable import SerialPort

@Suite struct PortUseTests {
    /// A program that opens a pseudo-terminal and keeps both of its ends, like a device simulator.
    private static let simulator = """
        import os, pty
        master, slave = pty.openpty()
        print(os.ttyname(slave), flush=True)
        input()
        """

    /// A program that opens terminals until one has the name in its argument.
    private static let stranger = """
        import os, pty, sys
        ends = [pty.openpty()]
        while os.ttyname(ends[-1][1]) != sys.argv[1]: ends.append(pty.openpty())
        print(sys.argv[1], flush=True)
        input()
        """

    @Test func `A program that has the port open without a lock is a holder; this process is not`() async throws {
        let terminal = try PseudoTerminal()
        #expect(PortHolder.others(of: terminal.path).isEmpty)
        let child = try await ChildProcess(["sh", "-c", "exec 3<>'\(terminal.path)'; echo ready; read x"])
        #expect(try await child.output.line() == "ready")
        let use = PortUse.now(of: terminal.path)
        #expect(use.holders == [PortHolder(processID: child.processID, command: "sh", holdsLock: false)])
        #expect(use.claims.isEmpty)
    }

    @Test func `The holder with the lock is listed first`() async throws {
        let terminal = try PseudoTerminal()
        let opener = try await ChildProcess(["sh", "-c", "exec 3<>'\(terminal.path)'; echo ready; read x"])
        #expect(try await opener.output.line() == "ready")
        // With `-o`, flock(1) alone has the port open, and not the command that it runs.
        let locker = try await ChildProcess(["flock", "-o", terminal.path, "sh", "-c", "echo ready; read x"])
        #expect(try await locker.output.line() == "ready")
        let holders = PortHolder.others(of: terminal.path)
        #expect(holders.map(\.processID) == [locker.processID, opener.processID])
        #expect(holders.map(\.holdsLock) == [true, false])
    }

    @Test func `The simulator behind a pseudo-terminal is no holder, even if it keeps the slave open`() async throws {
        let simulator = try await ChildProcess(["python3", "-c", Self.simulator])
        let path = try await simulator.output.line()
        #expect(PortHolder.all(of: path).map(\.processID) == [simulator.processID])
        #expect(PortHolder.others(of: path).isEmpty)

        // Holding the master of another terminal must not hide the client.
        let client = try await ChildProcess(["python3", "-c", "port = open('\(path)', 'rb+', 0)\n" + Self.simulator])
        _ = try await client.output.line()
        #expect(PortHolder.others(of: path).map(\.processID) == [client.processID])
    }

    @Test(.enabled(if: geteuid() == 0, "Only root may mount a file system of terminals"))
    func `A terminal of the same number in another container has other holders`() async throws {
        let terminal = try PseudoTerminal()
        let script = """
            mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts
            mount --bind /dev/pts/ptmx /dev/ptmx
            exec python3 -c "$0" "$1"
            """
        let stranger = try await ChildProcess(["unshare", "--mount", "sh", "-ec", script, Self.stranger, terminal.path])
        #expect(try await stranger.output.line() == terminal.path)
        let holders = PortHolder.all(of: terminal.path).map(\.processID)
        #expect(holders.contains(getpid()) && !holders.contains(stranger.processID))
    }

    @Test func `One scan serves all ports that were opened before it`() async throws {
        let memory = OpenDevices.Memory()
        let terminal = try PseudoTerminal()
        let start = ContinuousClock.now
        func holders(since time: ContinuousClock.Instant) -> [Int32] {
            PortHolder.all(of: terminal.path, in: memory.devices(since: time)).map(\.processID)
        }
        #expect(holders(since: start).contains(getpid()))
        let openers = [
            try await ChildProcess(["sh", "-c", "exec 3<>'\(terminal.path)'; echo ready; read x"]),
            try await ChildProcess(["flock", "-o", terminal.path, "sh", "-c", "echo ready; read x"]),
        ]
        for opener in openers { #expect(try await opener.output.line() == "ready") }
        #expect(openers.allSatisfy { !holders(since: start).contains($0.processID) })
        #expect(openers.allSatisfy { holders(since: .now).contains($0.processID) })
    }

    @Test func `A missing path or a file that is no device has no holders`() {
        for path in ["/dev/no-such-port", "/etc/hostname", "/dev"] {
            #expect(PortHolder.others(of: path).isEmpty)
        }
    }

    @Test func `Only root sees the open files of other users' processes`() throws {
        let all = PortHolder.processesInSight()
        #expect(all.seen > 0)
        let nobodys = try asNobody { PortHolder.processesInSight() }
        #expect(nobodys.unseen > all.unseen || geteuid() != 0)
        #expect(nobodys.unseen > 0)
    }

    @Test func `A port that a hidden process has locked is busy, with a hint`() {
        let error = SerialError(busy: "/dev/no-such-port", isLocked: true)
        #expect(error.code == .busy(holder: nil))
        #expect(error.hint == SerialError.hint(onUnseenHolderOf: "/dev/no-such-port"))
    }
}

@Suite struct LockFileTests {
    let folder = TemporaryFolder()

    private func remove(_ names: String...) {
        for name in names { unlink("\(folder.path)/\(name)") }
    }

    private func files(of port: String) -> [LockFile] { LockFile.all(of: port, in: folder.path) }

    @Test func `A lock file names the process that claims the port, until that process ends`() async throws {
        defer { remove("LCK..ttyUSB0") }
        #expect(files(of: "/dev/ttyUSB0").isEmpty)
        let child = try await ChildProcess(["sh", "-c", "echo ready; read x; exit 0"])
        #expect(try await child.output.line() == "ready")
        // The formats of picocom and minicom.
        for text in ["\(child.processID)\n", "      \(child.processID)\n", "  \(child.processID) minicom root\n"] {
            _ = folder.write(text, to: "LCK..ttyUSB0")
            let file = try #require(files(of: "/dev/ttyUSB0").first)
            #expect(file.path == "\(folder.path)/LCK..ttyUSB0")
            #expect(file.holder == "sh (pid \(child.processID))")
        }
        try await child.write("\n")
        #expect(try await child.ending().status == 0)
        let stale = try #require(files(of: "/dev/ttyUSB0").first)
        #expect(stale.processID == child.processID)
        #expect(stale.holder == nil)
    }

    @Test(arguments: ["", "\n", "minicom\n", "-7\n", "0\n", "99999999999\n", "\u{0}\u{1}\u{2}\u{3}"])
    func `A lock file without a valid process id names no process`(text: String) throws {
        defer { remove("LCK..ttyUSB0") }
        _ = folder.write(text, to: "LCK..ttyUSB0")
        let file = try #require(files(of: "/dev/ttyUSB0").first)
        #expect(file.processID == nil)
        #expect(file.holder == nil)
    }

    @Test func `Lock files under every name of a port are found`() throws {
        let terminal = try PseudoTerminal(link: folder.path("a"))
        let number = try #require(terminal.path.split(separator: "/").last)
        let names = ["LCK..a", "LCK..\(number)", "LCK..pts_\(number)"]
        defer { for name in names { remove(name) } }
        for name in names {
            _ = folder.write("1\n", to: name)
            #expect(files(of: folder.path("a")).map(\.path) == ["\(folder.path)/\(name)"])
            remove(name)
        }
        for name in names { _ = folder.write("1\n", to: name) }
        #expect(files(of: folder.path("a")).count == 3)
        #expect(files(of: terminal.path).count == 2)
        // Through a symbolic link to the folder.
        let linked = folder.path("devices")
        try #require(symlink("/dev/pts", linked) == 0)
        defer { unlink(linked) }
        #expect(files(of: "\(linked)/\(number)").count == 2)
    }

    @Test func `This process's own lock file is ignored`() {
        defer { remove("LCK..ttyUSB0") }
        _ = folder.write("\(getpid())\n", to: "LCK..ttyUSB0")
        #expect(files(of: "/dev/ttyUSB0").isEmpty)
    }

    @Test func `A lock file is a claim until its process is seen with the port open`() async throws {
        let terminal = try PseudoTerminal()
        let name = "LCK..\(try #require(terminal.path.split(separator: "/").last))"
        defer { remove(name) }
        let child = try await ChildProcess([
            "sh", "-c", "echo ready; read x; exec 3<>'\(terminal.path)'; echo open; read x",
        ])
        #expect(try await child.output.line() == "ready")
        _ = folder.write("\(child.processID)\n", to: name)
        let claimed = PortUse.now(of: terminal.path, lockFolder: folder.path)
        #expect(claimed.claims.map(\.processID) == [child.processID])
        #expect(claimed.holders.isEmpty)
        try await child.write("\n")
        #expect(try await child.output.line() == "open")
        let open = PortUse.now(of: terminal.path, lockFolder: folder.path)
        #expect(open.claims.isEmpty)
        #expect(open.lockFiles.count == 1)
        #expect(open.holders.map(\.processID) == [child.processID])
    }
}
