public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// The store while several links bring messages and hand them on at once.
///
/// ```swift
/// let relay = MessageRelay(try await RecordedMessages.open()) { print($0) }
/// try await relay.receive(from: link)
/// ```
///
/// A message is not handed back to the device that it came from: that would count as handed on, and it would go no
/// further.
public actor MessageRelay {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let loop: EventLoop
    /// What its own work runs on.
    nonisolated let executor: any SerialExecutor & TaskExecutor
    nonisolated let clock: any Clock<Duration>
    nonisolated let tell: @Sendable (RelayEvent) -> Void
    private let hasToldOfKnown = Atomic(false)
    private let store: any RescueStore
    /// After which new messages nothing more is wanted.
    public nonisolated let goal: MessageGoal
    /// From which device each message came, by its address.
    private var origins: [RescueID: String] = [:]
    /// What was handed on.
    public private(set) var handedOn: Set<RescueID> = []
    private var watchers: [AsyncStream<Void>.Continuation] = []
    /// The insertion that is under way: they are carried out one by one.
    private var insertion: Task<Void, Never>?

    /// A relay that has handed on nothing yet.
    ///
    /// - Parameters:
    ///   - store: Where the messages are kept.
    ///   - goal: After which new messages nothing more is wanted.
    ///   - loop: What all of it runs on.
    ///   - clock: Measures pauses; the loop's unless a test has another.
    ///   - tell: Told what happens, as it happens.
    public init(
        _ store: any RescueStore, until goal: MessageGoal = MessageGoal(), on loop: EventLoop = .shared,
        clock: (any Clock<Duration>)? = nil, tell: @escaping @Sendable (RelayEvent) -> Void = { _ in }
    ) {
        self.init(store, until: goal, on: loop, executor: loop, clock: clock, tell: tell)
    }

    /// The same; its own work, and that of a device of a ``MessageCarrier``, runs on `executor`.
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

    /// The store, for what comes from a device: the address tells it from others; nil for one that has none.
    public nonisolated func entrance(from address: String?) -> any RescueStore {
        Entrance(relay: self, address: address)
    }

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

    /// Tells that messages have come which were kept before: each phone brings those again whenever it connects.
    nonisolated func tellOfKnown() {
        if !hasToldOfKnown.exchange(true, ordering: .relaxed) { tell(.known) }
    }

    // MARK: What comes

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

    /// Waits until what was to come has come.
    public func untilCome() async throws {
        let changes = changes()
        while !goal.hasCome { try await Self.next(changes) }
    }

    // MARK: What is handed on

    /// Hands on over `link` what waits, and what will, until the link ends or the task is cancelled.
    ///
    /// - Throws: `LinkError`, `RescueStoreError`, `CancellationError`.
    public func handOn(over link: any Link) async throws {
        let changes = changes()
        while true {
            try await handOn(store.messages(.pendingSync), over: link) { tell(.handedOn($0, to: link.name)) }
            try await Self.next(changes)
        }
    }

    /// Hands on messages over `link`, but for those that came from there.
    ///
    /// - Parameter onHandedOn: Told how many were.
    /// - Throws: `LinkError`, `RescueStoreError`. What was sent before counts as handed on.
    public func handOn(
        _ messages: [RescueMessage], over link: any Link, onHandedOn: (Int) -> Void = { _ in }
    ) async throws {
        // The store shows a new message before its origin is noted here.
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

    /// Waits until all messages of these ids were handed on, by whatever link.
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

    /// An element behind each change from now on, or behind several.
    private func changes() -> AsyncStream<Void> {
        let (changes, watcher) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        watchers.append(watcher)
        return changes
    }

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
