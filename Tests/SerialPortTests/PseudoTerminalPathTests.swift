import Foundation
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
        terminal.becomeAnother()
        #expect(path.destination == .goneForGood)
    }

    @Test func `A link that was made anew leads to the terminal that is back`() throws {
        let first = try PseudoTerminal(link: folder.path("a"))
        let path = try #require(PseudoTerminalPath(folder.path("a")))
        #expect(path.destination == .same)
        first.becomeAnother()
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
        first.becomeAnother()
        #expect(path.destination == .gone)
        // The second of two links, which is relative, is the one that its owner makes anew.
        let second = try PseudoTerminal()
        #expect(unlink(folder.path("b")) == 0)
        #expect(path.destination == .gone)
        #expect(symlink(second.path, folder.path("b")) == 0)
        #expect(path.destination == .replaced)
    }
}

extension PseudoTerminal {
    /// Makes it look like one that was made later and got the same number. Links that are made from now on are later, too.
    ///
    /// To close it would not do: until the programs that other tests start are there, they hold it open as well.
    fileprivate func becomeAnother() {
        var (before, now) = (stat(), stat())
        stat(path, &before)
        // The clock of file systems has steps.
        repeat {
            chmod(path, 0o600)
            stat(path, &now)
        } while now.st_ctim.tv_sec == before.st_ctim.tv_sec && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec
    }
}
