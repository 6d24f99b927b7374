import ArgumentParser
import DescriptorIO
import Glibc
import LineProtocol
import SerialPort
import TestSupport
import Testing
import Transports

@testable import pumpctl

@Suite("A port that is opened again", .timeLimit(.minutes(1)))
struct ReopeningTests {
    private let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    /// What opens the port that a link was lost to.
    private func reopening(_ options: String = "") throws -> Reopening {
        let context = CommandContext(
            options: try SharedOptions.parse([]), family: .pump, loop: .shared, output: Output(isJSON: true),
            records: .values)
        return Reopening(try Endpoint("serial:\(terminal.path)\(options)"), ScriptedLink(), context)
    }

    @Test func `The board is not reset once more: the pump may be running`() async throws {
        // A pseudo-terminal has no DTR: to reset a board over it fails.
        let endpoint = try Endpoint("serial:\(terminal.path)?reset=true")
        let error = await #expect(throws: LinkError.self) { try await LinkSchemes.standard.open(endpoint) }
        #expect(error?.code == .unsupported)
        let link = try await reopening("?reset=true").link { _ in }
        #expect(!link.mayHaveReset)
        await link.close()
    }

    @Test func `One that another program looks at first is waited for`() async throws {
        let port = try SerialPort(path: terminal.path)
        let reopening = try reopening()
        let isOpen = Watched(false)
        let opening = Task {
            let link = try await reopening.link { _ in }
            isOpen.update { $0 = true }
            return link
        }
        await settle()
        #expect(!isOpen.state)
        await port.channel().close()
        let link = try await opening.value
        await link.close()
    }

    @Test func `A pseudo-terminal that got the number of one that has gone is not taken for it`() async throws {
        let reopening = try reopening()
        terminal.becomeAnother()
        let error = await #expect(throws: LinkError.self) { try await reopening.link { _ in } }
        #expect(error?.code == .disconnected)
        #expect(error?.hint?.isEmpty == false)
    }

    @Test func `Behind a link it is waited for until the link is made anew`() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        symlink(terminal.path, path)
        let context = CommandContext(
            options: try SharedOptions.parse([]), family: .pump, loop: .shared, output: Output(isJSON: true),
            records: .values)
        let reopening = Reopening(try Endpoint(path), ScriptedLink(), context)
        terminal.becomeAnother()
        let isOpen = Watched(false)
        let opening = Task {
            let link = try await reopening.link { _ in }
            isOpen.update { $0 = true }
            return link
        }
        await settle()
        #expect(!isOpen.state)
        symlink(terminal.path, path + ".new")
        rename(path + ".new", path)
        let link = try await opening.value
        await link.close()
    }
}

extension PseudoTerminal {
    /// Makes it look like one that was made later and got the same number.
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
