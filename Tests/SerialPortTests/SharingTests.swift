import DescriptorIO
import Glibc
import TestSupport
import Testing

@testable import SerialPort

@Suite struct SharingTests {
    let terminal: PseudoTerminal

    init() throws {
        terminal = try PseudoTerminal()
    }

    @Test func `A channel stays open while another program sets VMIN to 0`() async throws {
        let port = try SerialPort(path: terminal.path)
        var settings = termios()
        #expect(tcgetattr(port.descriptor, &settings) == 0)
        settings.c_cc.6 = 0  // VMIN
        #expect(tcsetattr(port.descriptor, TCSANOW, &settings) == 0)
        let channel = port.channel()
        // There is no input, which a read reports as 0 bytes with these settings.
        #expect(try await channel.readAvailable() == [])
        async let bytes = channel.read()
        #expect(try terminal.send([1, 2]) == .bytes(2))
        #expect(try await bytes == [1, 2])
        await channel.close()
    }

    @Test func `A port locked by another program is busy, and the program is named`() async throws {
        // With `-o`, flock(1) alone has the port open, and not the command that it runs.
        let child = try await ChildProcess(["flock", "-o", terminal.path, "sh", "-c", "echo ready; read x"])
        #expect(try await child.output.line() == "ready")
        let error = try failure { _ = try SerialPort(path: terminal.path) }
        let holder = PortHolder(processID: child.processID, command: "flock", holdsLock: true)
        #expect(error.code == .busy(holder: holder))
        #expect(error.description.contains("flock (pid \(child.processID))"))
        #expect(error.hint == "end it first: kill \(child.processID)")
    }

    /// Only root and the process's own user can read /proc/PID/fd.
    @Test func `The holder of a lock is found without reading its descriptors`()
        async throws
    {
        #expect(PortHolder.locking(terminal.path, FileLocks()) == [])
        let child = try await ChildProcess(["flock", "-o", terminal.path, "sh", "-c", "echo ready; read x"])
        #expect(try await child.output.line() == "ready")
        let holder = PortHolder(processID: child.processID, command: "flock", holdsLock: true)
        #expect(PortHolder.locking(terminal.path, FileLocks()) == [holder])
        #expect(PortHolder.all(of: terminal.path).filter(\.holdsLock) == [holder])
    }

    /// Between fork(2) and exec(2) a child has copies of all descriptors of its parent.
    @Test func `The process that took a lock holds it, not a child with a copy of the descriptor`()
        async throws
    {
        let script = """
            import fcntl, os, sys
            port = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
            fcntl.flock(port, fcntl.LOCK_EX)
            copy = os.fork()
            if copy: print(os.getpid(), copy, flush=True)
            sys.stdin.read()
            """
        let program = try await ChildProcess(["python3", "-c", script, terminal.path])
        let processes = try await program.output.line().split(separator: " ").compactMap { Int32($0) }
        let holders = PortHolder.all(of: terminal.path).filter { processes.contains($0.processID) }
        #expect(holders.map(\.processID) == processes)
        #expect(holders.map(\.holdsLock) == [true, false])
        await program.closeInput()
        try await program.ending()
    }

    @Test func `A port that this process has open is busy, and this process is named`() throws {
        let port = try SerialPort(path: terminal.path)
        let error = try failure { _ = try SerialPort(path: terminal.path) }
        guard case .busy(let holder?) = error.code else {
            Issue.record("\(error)")
            return
        }
        #expect(holder.processID == getpid() && holder.holdsLock)
        #expect(error.hint == "close it in this program first")
        #expect(!port.isClosed)
    }

    @Test func `A closed port is free again`() throws {
        try SerialPort(path: terminal.path).close()
        try SerialPort(path: terminal.path).close()
    }

    /// Between fork(2) and exec(2) a child has the port open too.
    @Test func `A port whose opening failed is free, also while a copy of its descriptor is open`() throws {
        var opening = try OpeningPort(path: terminal.path)
        let copy = dup(opening.descriptor)
        defer { close(copy) }
        try opening.claim(.exclusive)
        opening.abandon()
        try SerialPort(path: terminal.path).close()
    }

    @Test func `A holder without a lock is found, and does not prevent opening`() async throws {
        let child = try await ChildProcess(["sh", "-c", "exec 3<>'\(terminal.path)'; echo ready; read x"])
        #expect(try await child.output.line() == "ready")
        let holders = PortHolder.all(of: terminal.path)
        #expect(holders.contains(PortHolder(processID: child.processID, command: "sh", holdsLock: false)))
        #expect(holders.last?.processID == getpid())
        _ = try SerialPort(path: terminal.path)
    }

    @Test func `Two shared ports are open at the same time`() throws {
        let shared = SerialOptions(exclusivity: .shared)
        let first = try SerialPort(path: terminal.path, options: shared)
        let second = try SerialPort(path: terminal.path, options: shared)
        #expect(try first.send([1]) == .bytes(1))
        #expect(try second.send([2]) == .bytes(1))
        #expect(try terminal.receive(2) == [1, 2])
    }

    @Test(arguments: [
        (SerialOptions.Exclusivity.exclusive, SerialOptions.Exclusivity.shared), (.shared, .exclusive),
    ])
    func `A shared and an exclusive port exclude each other`(
        first: SerialOptions.Exclusivity, second: SerialOptions.Exclusivity
    ) throws {
        let port = try SerialPort(path: terminal.path, options: SerialOptions(exclusivity: first))
        let error = try failure {
            _ = try SerialPort(path: terminal.path, options: SerialOptions(exclusivity: second))
        }
        guard case .busy(_?) = error.code else {
            Issue.record("\(error)")
            return
        }
        #expect(!port.isClosed)
    }

    @Test func `A pseudo-terminal left in exclusive mode by a killed program can be opened`() throws {
        let slave = open(terminal.path, O_RDWR | O_NOCTTY)
        #expect(ioctl(slave, UInt(TIOCEXCL)) == 0)
        close(slave)
        _ = try SerialPort(path: terminal.path)
    }

    @Test(arguments: ["/dev/no-such-port", "/etc/hostname", "/dev"])
    func `A path that is no device has no holders`(path: String) {
        #expect(PortHolder.all(of: path).isEmpty)
    }
}
