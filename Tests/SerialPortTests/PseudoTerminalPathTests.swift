import Foundation
import TestSupport
import Testing

@testable import SerialPort

@Suite("The way to a pseudo-terminal")
struct PseudoTerminalPathTests {
    private let folder = TemporaryFolder()

    @Test func `What is no pseudo-terminal has none`() throws {
        #expect(PseudoTerminalPath("/dev/null") == nil)
        #expect(PseudoTerminalPath(folder.path("nothing")) == nil)
        #expect(symlink("/dev/pts/999999", folder.path("dangling")) == 0)
        #expect(PseudoTerminalPath(folder.path("dangling")) == nil)
    }

    @Test func `A terminal that has gone can't be told from the next of its number`() throws {
        let terminal = try PseudoTerminal()
        let path = try #require(PseudoTerminalPath(terminal.path))
        #expect(path.destination == .same)
        renewPseudoTerminal(at: terminal.path)
        #expect(path.destination == .goneForGood)
    }

    @Test func `A link that was made anew leads to the terminal that is back`() throws {
        let first = try PseudoTerminal(link: folder.path("a"))
        let path = try #require(PseudoTerminalPath(folder.path("a")))
        #expect(path.destination == .same)
        renewPseudoTerminal(at: first.path)
        #expect(path.destination == .gone)
        first.close()
        let second = try PseudoTerminal(link: folder.path("a"))
        #expect(path.destination == .replaced)
        second.close()
    }

    @Test func `A link that a killed program has left leads nowhere, and may not lead to another's`() throws {
        let first = try PseudoTerminal()
        #expect(symlink(first.path, folder.path("b")) == 0)
        #expect(symlink("b", folder.path("a")) == 0)
        let path = try #require(PseudoTerminalPath(folder.path("a")))
        #expect(path.destination == .same)
        renewPseudoTerminal(at: first.path)
        #expect(path.destination == .gone)
        // The owner recreates the second of two links, which is relative.
        let second = try PseudoTerminal()
        #expect(unlink(folder.path("b")) == 0)
        #expect(path.destination == .gone)
        #expect(symlink(second.path, folder.path("b")) == 0)
        #expect(path.destination == .replaced)
    }
}
