import BlueZ
import DeviceKit
import LineProtocol
import Transports

/// Lets phones find this computer: it hands on to each that subscribes what waits, and stores what they write.
struct MessageOffering: Sendable {
    private let context: CommandContext
    private let relay: MessageRelay
    private let name: String
    private let adapter: String?

    init(_ context: CommandContext, _ relay: MessageRelay, _ options: OfferOptions) {
        self.context = context
        self.relay = relay
        name = options.name ?? OfferOptions.defaultName
        adapter = options.adapter
    }

    /// What is done beside it.
    typealias Role = @Sendable () async throws -> Void

    /// Offers this computer, and serves whoever comes until one of `roles` has come to its end.
    ///
    /// They begin once it is offered: over one connection both sides are clients of the other, and look for services as it
    /// comes about.
    ///
    /// - Throws: `LinkError` where it can't be offered; `RescueStoreError`; `CancellationError`; what a role throws.
    func run(beside roles: [Role]) async throws {
        let (centrals, arrivals) = AsyncStream.makeStream(of: (any Link).self)
        let offer = try await BLEOffer.open(
            .rescue, name: name, on: adapter, loop: context.loop, onEvent: tell, onCentral: { arrivals.yield($0) })
        let result: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: context.loop) { try await serve(centrals) }
                for role in roles { group.addTask(executorPreference: context.loop) { try await role() } }
                try await group.next()
                group.cancelAll()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await offer.close()
        try result.get()
    }

    private func serve(_ centrals: AsyncStream<any Link>) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for await central in centrals {
                let note: @Sendable (String) -> Void = context.output.note
                let traced = context.options.verbose ? TracedLink(central, note: note) : central
                let link = context.recorded(traced, as: central.name, note: note)
                group.addTask(executorPreference: context.loop) { try await serve(link) }
            }
            throw CancellationError()
        }
    }

    /// Serves a central until it leaves, to the last message that it wrote.
    private func serve(_ link: any Link) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: context.loop) {
                try await untilLeft {
                    try await relay.handOn(over: link) { count in tell(count, to: link) }
                }
            }
            var intake = MessageIntake(relay, from: link.deviceAddress, context)
            let result: Result<Void, any Error>
            do {
                try await untilLeft { _ = try await intake.receive(from: link) }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            try intake.finish()
            try result.get()
            group.cancelAll()
        }
    }

    /// Does something with a central; that it leaves meanwhile is no failure.
    private func untilLeft(_ body: () async throws -> Void) async throws {
        do { try await body() } catch let error as LinkError where error.code != .cancelled {}
    }

    // MARK: What is told

    @Sendable private func tell(_ event: BLEOffer.Event) {
        let output = context.output
        switch event {
        case .offered(let adapter):
            output.note("pumpctl: \(name) is offered on \(adapter.name) (\(adapter.address))")
            output.record(
                OfferRecord("offered", name: name, adapter: adapter.name, port: "ble:\(adapter.address)"))
        case .interrupted(let error):
            output.note("pumpctl: \(error); \(name) is offered again once that is mended")
            output.record(OfferRecord("interrupted", name: name, error: error.code.rawValue))
        }
    }

    private func tell(_ count: Int, to link: any Link) {
        context.output.note("pumpctl: \(count) handed on to \(link.name)")
        context.output.record(OfferRecord("handed_on", port: link.name, count: count))
    }
}

/// What becomes of the offer, as programs are told of it.
private struct OfferRecord: Encodable {
    var event: String
    var name: String?
    var adapter: String?
    /// Where this computer is found, or whom something was handed on to.
    var port: String?
    var count: Int?
    var error: String?

    init(
        _ event: String, name: String? = nil, adapter: String? = nil, port: String? = nil, count: Int? = nil,
        error: String? = nil
    ) {
        self.event = event
        self.name = name
        self.adapter = adapter
        self.port = port
        self.count = count
        self.error = error
    }
}
