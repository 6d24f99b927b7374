import DescriptorIO
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SerialPort

@Suite struct PseudoTerminalTests {
    @Test func `A pseudo-terminal that holds its slave open keeps output for the next client`() throws {
        let terminal = try PseudoTerminal()
        try SerialPort(path: terminal.path).close()
        #expect(try terminal.readOnce() == nil)
        #expect(try terminal.send([1, 2]) == .bytes(2))
        #expect(try SerialPort(path: terminal.path).receive(2) == [1, 2])
    }

    @Test func `A pseudo-terminal that does not hold its slave is disconnected between clients`() throws {
        let terminal = try PseudoTerminal(holdsSlaveOpen: false)
        #expect(try terminal.readOnce() == nil)
        try SerialPort(path: terminal.path).close()
        #expect(try failure { _ = try terminal.readOnce() }.code == .disconnected)
        let port = try SerialPort(path: terminal.path)
        #expect(try terminal.readOnce() == nil)
        #expect(!port.isClosed)
    }

    @Test func `The slave is raw before anyone opens it`() throws {
        let terminal = try PseudoTerminal(holdsSlaveOpen: false)
        let slave = open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(slave) }
        #expect(try terminal.send([0x03, 0x0d, 0x0a]) == .bytes(3))
        var entry = pollfd(fd: slave, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 60_000) == 1)
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(read(slave, &bytes, 8) == 3)
        #expect(Array(bytes.prefix(3)) == [0x03, 0x0d, 0x0a])
        #expect(try terminal.readOnce() == nil)
    }

    @Test(.timeLimit(.minutes(5))) func `The hangup of a closed pseudo-terminal is reported despite unread input`()
        async throws
    {
        let terminal = try PseudoTerminal(holdsSlaveOpen: false)
        let client = open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(client) }
        let loop = EventLoop.shared
        #expect(try terminal.send([1, 2, 3]) == .bytes(3))
        let events = await withCheckedContinuation { continuation in
            loop.execute {
                let hearer = OneReport(continuation)
                hearer.token.withLock { $0 = loop.watch(client, events: 0, handler: hearer) }
                // The loop polls once, with the input unread, before it runs this call.
                loop.execute { terminal.close() }
            }
        }
        #expect(events & CShort(POLLHUP) != 0)
    }

    /// Resumes the waiting task with the first report, and stops watching.
    private final class OneReport: PollHandler {
        let token = Mutex<PollToken?>(nil)
        private let continuation: CheckedContinuation<CShort, Never>

        init(_ continuation: CheckedContinuation<CShort, Never>) { self.continuation = continuation }

        func ready(_ events: CShort) {
            guard let token = token.withLock({ $0.take() }) else { return }
            EventLoop.shared.unwatch(token)
            continuation.resume(returning: events)
        }
    }

    @Test func `In packet mode the master receives changes of settings and flushes`() throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort(path: terminal.path)
        try terminal.setPacketMode(true)
        try port.apply(SerialOptions(baudRate: 57600))
        let settings = try #require(try terminal.readOnce()?.first)
        #expect(PacketStatus(rawValue: settings).contains(.settingsChanged))
        try port.flush(.input)
        let flush = try #require(try terminal.readOnce()?.first)
        #expect(PacketStatus(rawValue: flush).contains(.flushedInput))
        #expect(try port.send([7]) == .bytes(1))
        // In packet mode a 0 precedes data (TIOCPKT).
        #expect(try terminal.receive(2) == [0, 7])
        try terminal.setPacketMode(false)
        #expect(try port.send([8]) == .bytes(1))
        #expect(try terminal.receive(1) == [8])
    }

    @Test func `Every operation on a closed pseudo-terminal fails with closed`() throws {
        let terminal = try PseudoTerminal()
        terminal.close()
        terminal.close()
        #expect(terminal.isClosed)
        #expect(try failure { _ = try terminal.readOnce() }.code == .closed)
        #expect(try failure { _ = try terminal.send([1]) }.code == .closed)
        #expect(try failure { _ = try terminal.clientOptions() }.code == .closed)
        #expect(try failure { try terminal.setPacketMode(true) }.code == .closed)
    }

    @Test func `Making and closing a thousand pseudo-terminals leaks no descriptor`() throws {
        for _ in 0..<1000 {
            _ = try PseudoTerminal()
            try PseudoTerminal().close()
        }
        // Other tests hold some descriptors at the same time; a leak would be a thousand or more.
        let count = (0..<8192).count { fcntl($0, F_GETFD) >= 0 }
        #expect(count < 900)
    }
}

/// Here a link is the symbolic link by which clients find a pseudo-terminal. Its lock file, such as `.a.lock` for the
/// link `a`, shows which program serves the link.
@Suite struct PortLinkTests {
    let folder = TemporaryFolder()

    private func destination(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = buffer.withUnsafeMutableBytes { readlink(path, $0.bindMemory(to: CChar.self).baseAddress!, 256) }
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    @Test func `Clients can open the port by its link, and closing removes the link`() throws {
        let terminal = try PseudoTerminal(link: folder.path("a"))
        #expect(terminal.linkPath == folder.path("a"))
        #expect(destination(folder.path("a")) == terminal.path)
        #expect(try SerialPort(path: folder.path("a")).send([1]) == .bytes(1))
        terminal.close()
        #expect(destination(folder.path("a")) == nil)
    }

    @Test func `A closed terminal gets no other link`() throws {
        let terminal = try PseudoTerminal(link: folder.path("a"))
        terminal.close()
        #expect(terminal.linkPath == nil)
        #expect(try failure { try terminal.putLink(at: folder.path("b")) }.code == .closed)
        #expect(destination(folder.path("b")) == nil)
    }

    @Test func `The holder of a port is found by its link`() async throws {
        let terminal = try PseudoTerminal(link: folder.path("a"))
        // With `-o`, flock(1) alone has the port open, and not the command that it runs.
        let child = try await ChildProcess(["flock", "-o", terminal.path, "sh", "-c", "echo ready; read x"])
        #expect(try await child.output.line() == "ready")
        #expect(PortHolder.all(of: folder.path("a")).first?.processID == child.processID)
    }

    @Test func `A dangling link is replaced`() throws {
        #expect(symlink("/dev/pts/999999", folder.path("a")) == 0)
        let terminal = try PseudoTerminal(link: folder.path("a"))
        #expect(destination(folder.path("a")) == terminal.path)
    }

    @Test func `A stale link to this terminal's own number is replaced`() throws {
        let terminal = try PseudoTerminal()
        #expect(symlink(terminal.path, folder.path("a")) == 0)
        let link = try PortLink(path: folder.path("a"), target: terminal.path)
        #expect(destination(folder.path("a")) == terminal.path)
        link.remove()
        #expect(destination(folder.path("a")) == nil)
    }

    @Test func `A link in use is left alone`() throws {
        let first = try PseudoTerminal(link: folder.path("a"))
        let error = try failure { _ = try PseudoTerminal(link: folder.path("a")) }
        #expect(error.code == .pathTaken)
        #expect(error.hint?.contains("(pid \(getpid())), which uses this path") == true)
        #expect(destination(folder.path("a")) == first.path)
    }

    /// Creates the remains of a killed program's link: the link, and its unheld lock file.
    private func leaveLink(to target: String) throws {
        let names = ["a", ".a.lock"]
        let link = try PortLink(path: folder.path("a"), target: target)
        for name in names { #expect(linkat(AT_FDCWD, folder.path(name), AT_FDCWD, folder.path("kept\(name)"), 0) == 0) }
        link.remove()
        for name in names { #expect(rename(folder.path("kept\(name)"), folder.path(name)) == 0) }
    }

    @Test func `A killed program's link is replaced, even if it leads to another terminal by now`() throws {
        let other = try PseudoTerminal()
        try leaveLink(to: other.path)
        #expect(destination(folder.path("a")) == other.path)
        let terminal = try PseudoTerminal(link: folder.path("a"))
        #expect(destination(folder.path("a")) == terminal.path)
        terminal.close()
        #expect(destination(folder.path("a")) == nil)
    }

    @Test func `A foreign link in place of a killed program's link is left alone`() throws {
        let other = try PseudoTerminal()
        try leaveLink(to: other.path)
        #expect(unlink(folder.path("a")) == 0)
        #expect(symlink(other.path, folder.path("a")) == 0)
        #expect(try failure { _ = try PseudoTerminal(link: folder.path("a")) }.code == .pathTaken)
        #expect(destination(folder.path("a")) == other.path)
    }

    @Test func `A link that a living program serves is left alone, wherever it leads`() throws {
        let terminal = try PseudoTerminal()
        for target in ["/dev/pts/999999", terminal.path] {
            let link = try PortLink(path: folder.path("a"), target: target)
            let error = try failure { _ = try PortLink(path: folder.path("a"), target: terminal.path) }
            #expect(error.code == .pathTaken)
            #expect(destination(folder.path("a")) == target)
            link.remove()
        }
    }

    @Test func `A removed or refused link leaves no files behind`() throws {
        try PortLink(path: folder.path("a"), target: "/dev/null").remove()
        #expect(symlink("/dev/null", folder.path("a")) == 0)
        _ = try failure { _ = try PseudoTerminal(link: folder.path("a")) }
        #expect(access(folder.path(".a.lock"), F_OK) != 0)
    }

    @Test func `A foreign file is not taken for a claim`() throws {
        let path = folder.path(".a.lock")
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        #expect(write(file, "x", 1) == 1)
        close(file)
        let error = try failure { _ = try PseudoTerminal(link: folder.path("a")) }
        #expect(error.code == .pathTaken && error.path == path)
        #expect(access(path, F_OK) == 0)
    }

    @Test func `A file at the path of the link is left alone`() throws {
        let file = open(folder.path("a"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        #expect(write(file, "x", 1) == 1)
        close(file)
        let error = try failure { _ = try PseudoTerminal(link: folder.path("a")) }
        #expect(error.code == .pathTaken)
        var status = stat()
        #expect(stat(folder.path("a"), &status) == 0 && status.st_size == 1)
    }

    @Test func `A link that was changed to lead elsewhere is not removed`() throws {
        let terminal = try PseudoTerminal(link: folder.path("a"))
        #expect(unlink(folder.path("a")) == 0)
        #expect(symlink("/dev/null", folder.path("a")) == 0)
        terminal.close()
        #expect(destination(folder.path("a")) == "/dev/null")
    }

    @Test func `A link in a missing folder is an error with a hint`() throws {
        let error = try failure { _ = try PseudoTerminal(link: "/no/such/folder/port") }
        #expect(error.code == .system && error.errno == ENOENT && error.hint != nil)
    }
}
