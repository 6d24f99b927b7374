import Foundation
import TestSupport
import Testing

@testable import SerialPort

@Suite("Paths to pseudo-terminals")
struct PseudoTerminalPathTests {
    private let folder = TemporaryFolder()

    @Test func `A path that leads to no pseudo-terminal is refused`() throws {
        #expect(PseudoTerminalPath("/dev/null") == nil)
        #expect(PseudoTerminalPath(folder.path("nothing")) == nil)
        #expect(symlink("/dev/pts/999999", folder.path("dangling")) == 0)
        #expect(PseudoTerminalPath(folder.path("dangling")) == nil)
    }

    @Test func `A pseudo-terminal whose number was given out again is gone for good`() throws {
        let terminal = try PseudoTerminal()
        let path = try #require(PseudoTerminalPath(terminal.path))
        #expect(path.destination == .same)
        renewPseudoTerminal(at: terminal.path)
        #expect(path.destination == .goneForGood)
    }

    @Test func `A link that is created again leads to the replacement terminal`() throws {
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

    @Test func `A link that went before it could be recorded is gone, and a terminal without a link is gone for good`()
        throws
    {
        // The path led to a terminal a moment ago.
        let path = try #require(PseudoTerminalPath(folder.path("a")) { _ in true })
        #expect(path.destination == .gone)
        let terminal = try PseudoTerminal(link: folder.path("a"))
        #expect(path.destination == .replaced)
        terminal.close()
        #expect(PseudoTerminalPath("/dev/pts/999999") { _ in true }?.destination == .goneForGood)
    }

    @Test func `A killed program's link counts as gone until its owner creates it again`() throws {
        let first = try PseudoTerminal()
        #expect(symlink(first.path, folder.path("b")) == 0)
        #expect(symlink("b", folder.path("a")) == 0)
        let path = try #require(PseudoTerminalPath(folder.path("a")))
        #expect(path.destination == .same)
        renewPseudoTerminal(at: first.path)
        #expect(path.destination == .gone)
        // The owner recreates `b`, the link that `a` leads to.
        let second = try PseudoTerminal()
        #expect(unlink(folder.path("b")) == 0)
        #expect(path.destination == .gone)
        #expect(symlink(second.path, folder.path("b")) == 0)
        #expect(path.destination == .replaced)
    }
}
