internal import BlueZ
public import LineProtocol
internal import Transports

/// Makes this computer visible to phones as a BLE peripheral, sends the messages that are `pending_sync` to each phone
/// that subscribes, and stores the messages that phones write.
public struct MessageOffering: Sendable {
    private let relay: MessageRelay
    private let name: String
    private let adapter: String?
    private let wrap: @Sendable (any Link) -> any Link

    /// Creates an offering. ``run(beside:)`` starts it.
    ///
    /// - Parameters:
    ///   - relay: The relay of the messages.
    ///   - name: The name of this computer for phones.
    ///   - adapter: The name or address of the Bluetooth adapter; nil for the first one that is powered.
    ///   - wrap: Wraps the link of each phone, to trace or to record it.
    public init(
        _ relay: MessageRelay, as name: String, on adapter: String? = nil,
        wrap: @escaping @Sendable (any Link) -> any Link = { $0 }
    ) {
        self.relay = relay
        self.name = name
        self.adapter = adapter
        self.wrap = wrap
    }

    /// A task that runs while the computer is offered, such as sending messages over a port.
    public typealias Role = @Sendable () async throws -> Void

    /// Offers this computer, and serves phones until one of `roles` ends, serving fails or the task is cancelled.
    ///
    /// The roles start after the computer is offered: a phone to which a role connects discovers this computer's
    /// services while connecting.
    ///
    /// - Parameter roles: The tasks to run in parallel.
    /// - Throws: `LinkError` if the computer can't be offered; `RescueStoreError`; `CancellationError`; the errors of
    ///   the roles.
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
                try await group.endWithFirst()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await offer.close()
        try result.get()
    }

    /// Serves phones until the task is cancelled.
    ///
    /// - Throws: `RescueStoreError` if messages of any phone are not stored; otherwise `CancellationError`.
    func serve(_ centrals: AsyncStream<any Link>) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for await central in centrals {
                let link = wrap(central)
                group.addTask(executorPreference: relay.loop) {
                    // Other errors mean only that the task is cancelled.
                    do { try await serve(link) } catch let error as RescueStoreError { throw error } catch {}
                }
            }
        }
        throw CancellationError()
    }

    /// Serves a phone until the phone leaves or the relay's goal is reached.
    ///
    /// - Throws: `RescueStoreError` if received messages are not stored when the task is cancelled.
    private func serve(_ link: any Link) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: relay.loop) {
                try await untilLeft { try await relay.handOn(over: link) }
            }
            try await untilLeft { try await relay.receive(from: link) }
            group.cancelAll()
        }
    }

    /// Runs `body` with a phone. The phone may leave at any time, which is no failure.
    private func untilLeft(_ body: () async throws -> Void) async throws {
        do { try await body() } catch let error as LinkError where error.code != .cancelled {}
    }
}
