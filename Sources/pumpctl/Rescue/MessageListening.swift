import DeviceKit
import LineProtocol
import Transports

/// `rescue listen`: stores and prints messages as they come, also behind a link that was lost.
struct MessageListening: Sendable {
    private let context: CommandContext
    private let endpoint: Endpoint
    private let relay: MessageRelay

    /// - Parameter relay: What the store is used by.
    init(_ context: CommandContext, _ endpoint: Endpoint, _ relay: MessageRelay) {
        self.context = context
        self.relay = relay
        self.endpoint = endpoint
    }

    /// Runs until what is waited for has come, or the task is cancelled.
    func run() async throws {
        let link = try await context.openLink(endpoint, for: .watching, note: context.output.note)
        var intake = MessageIntake(relay, from: link.deviceAddress)
        do { try await listen(over: link, &intake) } catch {
            try intake.finish()
            throw error
        }
    }

    private func listen(over link: any Link, _ intake: inout MessageIntake) async throws {
        try await context.reconnector(endpoint, link, note: context.output.note).follow(link) { error in
            context.output.note("pumpctl: \(error); waiting for the device to come back")
        } onReturn: {
            context.output.note("pumpctl: \(endpoint.text) is back")
        } _: { link in
            guard try await intake.receive(from: link) else { throw CancellationError() }
        }
    }
}
