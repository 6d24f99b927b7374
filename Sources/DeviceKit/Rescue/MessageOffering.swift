internal import BlueZ
public import LineProtocol
internal import Transports

/// Lets phones find this computer: it hands on to each that subscribes what waits, and stores what they write.
public struct MessageOffering: Sendable {
    private let relay: MessageRelay
    private let name: String
    private let adapter: String?
    private let wrap: @Sendable (any Link) -> any Link

    /// An offer that ``run(beside:)`` makes.
    ///
    /// - Parameters:
    ///   - name: What this computer is called over BLE.
    ///   - adapter: The Bluetooth adapter, by its name or address; nil for the first that there is.
    ///   - wrap: What is made of the link of each phone, to trace or to record it.
    public init(
        _ relay: MessageRelay, as name: String, on adapter: String? = nil,
        wrap: @escaping @Sendable (any Link) -> any Link = { $0 }
    ) {
        self.relay = relay
        self.name = name
        self.adapter = adapter
        self.wrap = wrap
    }

    /// What is done beside it.
    public typealias Role = @Sendable () async throws -> Void

    /// Offers this computer, and serves whoever comes until one of `roles` has come to its end.
    ///
    /// They begin once it is offered: over one connection both sides are clients of the other, and look for services as it
    /// comes about.
    ///
    /// - Throws: `LinkError` where it can't be offered; `RescueStoreError`; `CancellationError`; what a role throws.
    public func run(beside roles: [Role]) async throws {
        let (centrals, arrivals) = AsyncStream.makeStream(of: (any Link).self)
        let offer = try await BLEOffer.open(
            .rescue, name: name, on: adapter, loop: relay.loop,
            onEvent: { [relay, name] in relay.tell(.offer($0, as: name)) },
            onCentral: { arrivals.yield($0) })
        let result: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: relay.loop) { try await serve(centrals) }
                for role in roles { group.addTask(executorPreference: relay.loop) { try await role() } }
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
                let link = wrap(central)
                group.addTask(executorPreference: relay.loop) { try await serve(link) }
            }
            throw CancellationError()
        }
    }

    /// Serves a central until it leaves, to the last message that it wrote.
    private func serve(_ link: any Link) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: relay.loop) {
                try await untilLeft { try await relay.handOn(over: link) }
            }
            var intake = MessageIntake(relay, from: link.deviceAddress)
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
}
