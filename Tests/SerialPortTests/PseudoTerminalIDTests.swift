import Glibc
import SerialPort
import TestSupport
import Testing

@Suite("Identities of pseudo-terminals", .timeLimit(.minutes(5)))
struct PseudoTerminalIDTests {
    @Test("A terminal has the same identity at its path and at a link, and another one than any other terminal")
    func identity() throws {
        let folder = TemporaryFolder()
        let (one, other) = (try PseudoTerminal(link: folder.path("port")), try PseudoTerminal())
        #expect(one.id != nil)
        #expect(PseudoTerminalID(at: folder.path("port")) == one.id)
        #expect(PseudoTerminalID(at: one.path) == one.id)
        #expect(one.id?.description != other.id?.description)
        one.close()
        other.close()
    }

    @Test("A program that has the master of a terminal open is a candidate for the device behind it")
    func candidates() throws {
        let terminal = try PseudoTerminal()
        let id = try #require(terminal.id)
        #expect(id.candidates().contains(getpid()))
        // While its far end is open, no terminal of another test gets the same number.
        let farEnd = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(farEnd) }
        #expect(farEnd >= 0)
        terminal.close()
        #expect(!id.candidates().contains(getpid()))
    }

    @Test("Other files have no such identity", arguments: ["/dev/null", "/dev/tty", "/dev/ptmx", "/tmp", "/nothing"])
    func others(path: String) {
        #expect(PseudoTerminalID(at: path) == nil)
    }
}
