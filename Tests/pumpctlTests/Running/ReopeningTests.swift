import ArgumentParser
import DescriptorIO
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
}
