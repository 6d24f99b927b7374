import Glibc
import TestSupport
import Testing

@testable import SerialPort

@Suite struct OpeningTests {
    @Test(arguments: ["/dev/no-such-port", "/dev/null/port"])
    func `A missing path is reported as no such port`(path: String) throws {
        let error = try failure { _ = try SerialPort(path: path) }
        #expect(error.code == .noSuchPort)
        #expect(error.path == path)
        #expect(error.hint != nil)
    }

    @Test(arguments: ["/dev", "/dev/null", "/etc/hostname"])
    func `A directory, another device and a plain file are rejected as no terminals`(path: String) throws {
        let error = try failure { _ = try SerialPort(path: path) }
        #expect(error.code == .notATerminal)
        #expect(error.hint != nil)
    }

    @Test func `A locked plain file is reported as no terminal, not as busy`() async throws {
        let folder = TemporaryFolder()
        let child = try await ChildProcess(["flock", folder.path("a"), "sh", "-c", "echo ready; read x"])
        #expect(try await child.output.line() == "ready")
        let error = try failure { _ = try SerialPort(path: folder.path("a")) }
        #expect(error.code == .notATerminal)
    }

    @Test func `A port that only a group may open is reported with the hint for its permissions`() throws {
        let terminal = try PseudoTerminal()
        // 5 is `tty` on Debian, a group without root as a member.
        if geteuid() == 0 { #expect(chown(terminal.path, 0, 5) == 0) }
        #expect(chmod(terminal.path, 0o060) == 0)
        let error = try asNobody {
            try failure { _ = try SerialPort(path: terminal.path) }
        }
        #expect(error.code == .notPermitted)
        #expect(error.errno == EACCES)
        // `asNobody` does not change root's user ID, and root lacks access only in a container or service.
        #expect(error.hint?.hasPrefix(geteuid() == 0 ? "give the container" : "join the port's group") == true)
    }

    @Test func `A port without any permissions is reported with the hint for its permissions`() throws {
        let terminal = try PseudoTerminal()
        #expect(chmod(terminal.path, 0) == 0)
        let error = try asNobody {
            try failure { _ = try SerialPort(path: terminal.path) }
        }
        #expect(error.code == .notPermitted)
        #expect(error.hint?.hasPrefix(geteuid() == 0 ? "give the container" : "run the command as ") == true)
    }

    @Test func `The descriptor is non-blocking and not inherited`() throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort(path: terminal.path)
        for descriptor in [port.descriptor, terminal.descriptor] {
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
    }

    @Test func `A terminal without modem lines accepts line policies and low latency`() throws {
        let terminal = try PseudoTerminal()
        let options = SerialOptions(dtrOnOpen: .asserted, rtsOnOpen: .deasserted, lowLatency: true)
        let port = try SerialPort(path: terminal.path, options: options)
        #expect(try !port.currentOptions().lowLatency)
    }

    @Test func `Opening raises no DTR edge on a terminal without modem lines, whatever was set before`() throws {
        let terminal = try PseudoTerminal()
        try SerialPort(path: terminal.path, options: SerialOptions(hangUpOnClose: true)).close()
        #expect(try !SerialPort(path: terminal.path).raisedDTR)
    }

    @Test func `Input from before the port was opened is kept`() throws {
        let terminal = try PseudoTerminal()
        #expect(try terminal.send(Array("hello".utf8)) == .bytes(5))
        let port = try SerialPort(path: terminal.path, options: SerialOptions(baudRate: 115_200))
        #expect(try port.receive(5) == Array("hello".utf8))
    }

    @Test func `Opening and closing a thousand times leaks no descriptor`() throws {
        let terminal = try PseudoTerminal()
        let before = descriptors(to: terminal.path)
        for _ in 0..<1000 {
            try SerialPort(path: terminal.path).close()
            _ = try SerialPort(path: terminal.path)
            _ = try failure {
                _ = try SerialPort(path: terminal.path, options: SerialOptions(parity: .even))
            }
        }
        #expect(descriptors(to: terminal.path) == before)
    }
}
