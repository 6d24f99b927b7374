public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// Passes messages on between phones: puts the messages that arrive over any number of links into one store, and sends
/// the messages in the store over links.
///
/// A relay opens no links. A ``MessageCarrier`` connects to one device or to all phones in range, a ``MessageOffering``
/// lets phones connect to this computer, and a ``MessageExchange`` combines both. To hand a message on means to send it
/// to another device. The store then marks the message `synced`; a message that waits for that is `pending_sync`.
///
/// ```swift
/// let relay = MessageRelay(try await RecordedMessages.open()) { print($0) }
/// try await relay.receive(from: link)
/// ```
///
/// ``handOn(over:)`` does not send a message back to the device from which this relay has received the message, if the
/// device's address is known: a sent message counts as handed on, so it would go no further.
public actor MessageRelay {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let loop: EventLoop
    /// The executor of the relay's own work.
    nonisolated let executor: any SerialExecutor & TaskExecutor
    nonisolated let clock: any Clock<Duration>
    nonisolated let tell: @Sendable (RelayEvent) -> Void
    private let hasToldOfKnown = Atomic(false)
    private let store: any RescueStore
    /// The condition that ends receiving.
    public nonisolated let goal: MessageGoal
    /// The address of the device from which this relay has received each new message, if the address is known.
    private var origins: [RescueID: String] = [:]
    /// The messages that this relay has handed on.
    public private(set) var handedOn: Set<RescueID> = []
    /// The streams of ``changes()``, some of which may have ended.
    private var watchers: [AsyncStream<Void>.Continuation] = []
    /// The last insertion that was requested. Insertions run one after the other.
    private var insertion: Task<Void, Never>?

    /// Creates a relay.
    ///
    /// - Parameters:
    ///   - store: The store of the messages.
    ///   - goal: The condition that ends receiving.
    ///   - loop: The event loop of all work.
    ///   - clock: The clock for pauses; nil for the clock of the loop.
    ///   - tell: Receives each event, on any thread.
    public init(
        _ store: any RescueStore, until goal: MessageGoal = MessageGoal(), on loop: EventLoop = .shared,
        clock: (any Clock<Duration>)? = nil, tell: @escaping @Sendable (RelayEvent) -> Void = { _ in }
    ) {
        self.init(store, until: goal, on: loop, executor: loop, clock: clock, tell: tell)
    }

    /// Creates a relay whose own work, and that of a ``MessageCarrier`` with one device, runs on `executor`.
    package init(
        _ store: any RescueStore, until goal: MessageGoal, on loop: EventLoop,
        executor: any SerialExecutor & TaskExecutor, clock: (any Clock<Duration>)?,
        tell: @escaping @Sendable (RelayEvent) -> Void
    ) {
        self.store = store
        self.goal = goal
        self.loop = loop
        self.executor = executor
        self.clock = clock ?? EventLoopClock(loop)
        self.tell = tell
    }

    /// Returns the store for the messages of one device. The relay remembers the device as the origin of new messages.
    ///
    /// - Parameter address: The address that identifies the device; nil if the address is unknown.
    public nonisolated func entrance(from address: String?) -> any RescueStore {
        Entrance(relay: self, address: address)
    }

    /// The relay's store, for the messages of one device.
    private struct Entrance: RescueStore {
        let relay: MessageRelay
        let address: String?

        func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage] {
            try await relay.insert(messages, from: address).get()
        }

        func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage] {
            try await relay.store.messages(status)
        }

        func markSynced(_ ids: [RescueID]) async throws(RescueStoreError) { try await relay.markSynced(ids) }
    }

    /// Reports, only once, the arrival of messages that were stored before: each phone sends its messages again
    /// whenever it connects.
    nonisolated func tellOfKnown() {
        if !hasToldOfKnown.exchange(true, ordering: .relaxed) { tell(.known) }
    }

    // MARK: Receiving

    /// Stores new messages, after the insertions that were requested before. Returns the new messages.
    private func insert(
        _ messages: [RescueMessage], from address: String?
    ) async -> Result<[RescueMessage], RescueStoreError> {
        let before = insertion
        let task = Task(executorPreference: executor) {
            await before?.value
            return await self.store(messages, from: address)
        }
        insertion = Task(executorPreference: executor) { _ = await task.value }
        return await task.value
    }

    /// Stores new messages and notes their origin. Called for one insertion at a time.
    private func store(
        _ messages: [RescueMessage], from address: String?
    ) async -> Result<[RescueMessage], RescueStoreError> {
        do throws(RescueStoreError) {
            let new = try await store.insertNew(messages)
            for message in new { origins[message.id] = address }
            goal.take(new)
            if !new.isEmpty { tellWatchers() }
            return .success(new)
        } catch {
            return .failure(error)
        }
    }

    /// Waits until the goal is reached.
    ///
    /// - Throws: `CancellationError`.
    public func untilCome() async throws {
        let changes = changes()
        while !goal.hasCome { try await Self.next(changes) }
    }

    // MARK: Handing on

    /// Sends the messages that are `pending_sync` over `link`, and later ones when they arrive, until sending fails or
    /// the task is cancelled. Never returns normally. If the store fails, messages stay pending, and are sent again
    /// after the next change of the store.
    ///
    /// - Throws: `LinkError`, `CancellationError`.
    public func handOn(over link: any Link) async throws {
        let changes = changes()
        while true {
            do {
                try await handOn(store.messages(.pendingSync), over: link) { tell(.handedOn($0, to: link.name)) }
            } catch let error as RescueStoreError {
                tell(.storeFails(error))
            }
            try await Self.next(changes)
        }
    }

    /// Sends messages over `link`, except those that this relay has received from the link's device, and marks the sent
    /// messages `synced`.
    ///
    /// - Parameters:
    ///   - messages: The messages.
    ///   - link: The link to the device.
    ///   - onHandedOn: Called with the number of messages that were sent, if it is not 0.
    /// - Throws: `LinkError`, `RescueStoreError`. Messages that were sent before a `LinkError` count as handed on.
    public func handOn(
        _ messages: [RescueMessage], over link: any Link, onHandedOn: (Int) -> Void = { _ in }
    ) async throws {
        // The store contains a new message before its origin is recorded here, so wait for the insertion.
        await insertion?.value
        let wanted = messages.filter { link.deviceAddress == nil || origins[$0.id] != link.deviceAddress }
        var sent: [RescueID] = []
        let result: Result<Void, LinkError>
        do throws(LinkError) {
            for message in wanted {
                try await link.send(message.json)
                sent.append(message.id)
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        if !sent.isEmpty {
            try await markSynced(sent)
            onHandedOn(sent.count)
        }
        try result.get()
    }

    /// Waits until all messages with these ids were handed on, over any link.
    ///
    /// - Throws: `CancellationError`.
    public func untilHandedOn(_ ids: [RescueID]) async throws {
        let changes = changes()
        while !handedOn.isSuperset(of: ids) { try await Self.next(changes) }
    }

    private func markSynced(_ ids: [RescueID]) async throws(RescueStoreError) {
        try await store.markSynced(ids)
        handedOn.formUnion(ids)
        tellWatchers()
    }

    // MARK: Changes

    /// Returns a stream with an element after each change of the store from now on. Changes in quick succession may
    /// share one element.
    private func changes() -> AsyncStream<Void> {
        let (changes, watcher) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        watchers.append(watcher)
        return changes
    }

    /// Waits for the next change.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    private static func next(_ changes: AsyncStream<Void>) async throws {
        for await _ in changes { return }
        throw CancellationError()
    }

    private func tellWatchers() {
        watchers.removeAll { watcher in
            if case .terminated = watcher.yield() { true } else { false }
        }
    }
}

extension ThrowingTaskGroup<Void, any Error> {
    /// Waits until one task ends, then cancels the others and waits for them.
    ///
    /// - Throws: The `RescueStoreError` of any task: messages are not stored. Otherwise the error of the task that
    ///   ended first.
    mutating func endWithFirst() async throws {
        var ending = await nextResult()
        cancelAll()
        while let result = await nextResult() {
            if case .failure(is RescueStoreError) = result { ending = result }
        }
        try ending?.get()
    }
}
