import DeviceKit
import LineProtocol
import Transports

/// `peer listen`: shows what a peer says as it comes, also behind a link that was lost.
struct PeerListening: Sendable {
    private let context: CommandContext
    private let endpoint: Endpoint
    private let count: Int?

    /// - Parameter count: After how many events to end; nil for no end.
    init(_ context: CommandContext, count: Int?) throws {
        self.context = context
        self.count = count
        endpoint = try context.endpoint()
    }

    /// Runs until all events were shown, `time` is over, or a signal ends it.
    func run(for time: Duration?) async throws { try await context.run(for: time) { try await listen() } }

    private func listen() async throws {
        let link = try await context.openLink(endpoint, for: .watching, note: context.output.note)
        var rest = count
        try await context.reconnector(endpoint, link, note: context.output.note).follow(link) { error in
            context.output.note("pumpctl: \(error); waiting for the device to come back")
            context.output.record(PeerEvent("lost"))
        } onReturn: {
            context.output.note("pumpctl: \(endpoint.text) is back")
            context.output.record(PeerEvent("back"))
        } _: { link in
            try await show(from: link, &rest)
        }
    }

    /// Shows events until `rest` of them were shown. The loss of the link is thrown.
    private func show(from link: any Link, _ rest: inout Int?) async throws {
        try await link.send(PeerCommand.hello.bytes(keepsPacketBounds: link.keepsPacketBounds))
        for try await piece in PeerPieces(over: link) {
            guard let event = PeerEvent(piece) else { continue }
            context.output.result(event.phrase, event)
            rest = rest.map { $0 - 1 }
            if rest == 0 { return }
        }
        throw CancellationError()
    }
}
