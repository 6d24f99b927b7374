public import LineProtocol

/// Stores the messages that arrive over a link, and tells its relay of those that are new.
public struct MessageIntake: Sendable {
    /// How many messages wait for a disk that takes none. What comes then waits on the link.
    private static let limit = 20_000
    /// How long a store that has failed is left alone.
    private static let retryDelay = Duration.seconds(1)

    private let relay: MessageRelay
    private let store: any RescueStore
    /// What has arrived and is not stored.
    private var waiting: [RescueMessage] = []
    /// Why not, since it was last tried.
    private var trouble: RescueStoreError?
    /// Whether some of what waits may be stored all the same.
    private var isUncertain = false

    private var goal: MessageGoal { relay.goal }

    /// An intake for ``receive(from:)``, of one link after the other.
    ///
    /// - Parameter address: Of the device that the messages come from; nil for one that has none.
    public init(_ relay: MessageRelay, from address: String?) {
        self.relay = relay
        store = relay.entrance(from: address)
    }

    /// Takes in what arrives on `link`, until it is closed or what was waited for has come. While nothing can be stored it
    /// goes on: see ``finish()``.
    ///
    /// - Returns: Whether that has come.
    /// - Throws: `LinkError` where the far end is gone.
    public mutating func receive(from link: any Link) async throws -> Bool {
        let buffer = ArrivalBuffer()
        let reading = Task(executorPreference: link.executor) { await buffer.fill(from: link) }
        defer {
            reading.cancel()
            buffer.end()
        }
        return try await withTaskCancellationHandler {
            while let arrivals = try await next(in: buffer) {
                take(arrivals)
                guard await storeWaiting() else { continue }
                // What has come already is kept too.
                take(buffer.takeRest())
                _ = await storeWaiting()
                return true
            }
            return false
        } onCancel: {
            reading.cancel()
        }
    }

    /// Nothing more is taken in.
    ///
    /// - Throws: Where messages have come that could not be stored.
    public func finish() throws(RescueStoreError) {
        guard let trouble, !waiting.isEmpty else { return }
        let verb = waiting.count == 1 ? "is" : "are"
        throw RescueStoreError(
            trouble.code, "\(waiting.count.counted("message")) \(verb) not kept: \(trouble)", hint: trouble.hint)
    }

    /// What arrives next; nothing where it is time to try again to store what waits.
    private func next(in buffer: ArrivalBuffer) async throws(LinkError) -> [RescueArrival]? {
        guard trouble != nil else { return try await buffer.take() }
        let isFull = waiting.count >= Self.limit
        let pause = Task(executorPreference: relay.executor) { [clock = relay.clock] in
            if (try? await clock.sleep(for: Self.retryDelay)) != nil { buffer.wake() }
        }
        defer { pause.cancel() }
        guard isFull else { return try await buffer.take() }
        await pause.value
        return []
    }

    private mutating func take(_ arrivals: [RescueArrival]) {
        for arrival in arrivals {
            switch arrival {
            case .message(var message):
                message.status = .pendingSync
                waiting.append(message)
                if trouble != nil { relay.tell(.notKept(message)) }
            case .malformed(let error): relay.tell(.malformed(error))
            }
        }
    }

    /// Stores what waits, all of it in one write to the disk. Returns whether what was waited for has come.
    private mutating func storeWaiting() async -> Bool {
        while !waiting.isEmpty {
            let batch = waiting
            do throws(RescueStoreError) {
                let new = try await store.insertNew(batch)
                if trouble != nil { relay.tell(.storeRecovers) }
                trouble = nil
                waiting.removeFirst(batch.count)
                if !isUncertain, new.count < batch.count { relay.tellOfKnown() }
                if isUncertain {
                    // Some of them were new to the store that was lost.
                    goal.take(batch.filter { message in !new.contains { $0.id == message.id } })
                }
                tell(of: isUncertain ? batch : new)
            } catch {
                if trouble == nil {
                    relay.tell(.storeFails(error))
                    for message in waiting { relay.tell(.notKept(message)) }
                }
                trouble = error
                isUncertain = isUncertain || error.code == .lost
                return false
            }
        }
        isUncertain = false
        return goal.hasCome
    }

    /// Goes on to store what has come, until that is done.
    public mutating func untilStored() async throws {
        while trouble != nil, !waiting.isEmpty {
            try await relay.clock.sleep(for: Self.retryDelay)
            _ = await storeWaiting()
        }
    }

    /// Tells of messages that were stored; of those behind the last that was waited for only that they are kept.
    private func tell(of messages: [RescueMessage]) {
        let surplus = messages.filter(goal.isSurplus)
        for message in messages where !goal.isSurplus(message) { relay.tell(.kept(message)) }
        if !surplus.isEmpty { relay.tell(.surplus(surplus)) }
    }
}
