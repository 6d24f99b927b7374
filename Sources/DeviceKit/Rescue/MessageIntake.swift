public import LineProtocol

/// Stores the messages that arrive over a link, and reports the new ones to its relay. If the store fails, messages are
/// kept in memory and storing is tried again.
public struct MessageIntake: Sendable {
    /// The number of messages at which a failing store stops the intake. Further messages stay in the ``ArrivalBuffer``
    /// and, once that is full, on the link.
    private static let limit = 20_000
    /// The pause before a failed store is tried again.
    private static let retryDelay = Duration.seconds(1)

    private let relay: MessageRelay
    /// The relay's store, for the messages of the present link's device.
    private var store: any RescueStore
    /// The messages that have arrived and are not stored yet.
    private var waiting: [RescueMessage] = []
    /// The error of the last attempt to store; nil if the attempt succeeded or there was none.
    private var trouble: RescueStoreError?
    /// Whether a failed attempt may have stored some of the waiting messages.
    private var isUncertain = false

    private var goal: MessageGoal { relay.goal }

    /// Creates an intake for ``receive(from:)``, which may be called for one link after the other.
    ///
    /// - Parameter relay: The relay that receives the events.
    public init(_ relay: MessageRelay) {
        self.relay = relay
        store = relay.entrance(from: nil)
    }

    /// Receives messages from `link` until it is closed or the relay's goal is reached. Goes on while the store fails:
    /// see ``finish()``.
    ///
    /// - Returns: Whether the goal is reached; false if the link was closed before.
    /// - Throws: `LinkError` if the far end is gone or the task is cancelled.
    public mutating func receive(from link: any Link) async throws -> Bool {
        // A phone may come back with another address.
        store = relay.entrance(from: link.deviceAddress)
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
                // Store messages that have arrived already, too.
                take(buffer.takeRest())
                _ = await storeWaiting()
                return true
            }
            return false
        } onCancel: {
            reading.cancel()
        }
    }

    /// Ends the intake.
    ///
    /// - Throws: `RescueStoreError` if messages have arrived that could not be stored.
    public func finish() throws(RescueStoreError) {
        guard let trouble, !waiting.isEmpty else { return }
        let verb = waiting.count == 1 ? "was" : "were"
        throw RescueStoreError(
            trouble.code, "\(waiting.count.counted("message")) \(verb) not stored: \(trouble)", hint: trouble.hint)
    }

    /// Waits for the next arrivals. Returns an empty array when it is time to try the store again; nil once the link
    /// was closed.
    private func next(in buffer: ArrivalBuffer) async throws(LinkError) -> [RescueArrival]? {
        guard trouble != nil else { return try await buffer.take() }
        let isFull = waiting.count >= Self.limit
        let pause = Task(executorPreference: relay.executor) { [clock = relay.clock] in
            if (try? await clock.sleep(for: Self.retryDelay)) != nil { buffer.wake() }
        }
        defer { pause.cancel() }
        guard isFull else { return try await buffer.take() }
        await pause.value
        return buffer.hasEnded ? try await buffer.take() : []
    }

    private mutating func take(_ arrivals: [RescueArrival]) {
        for arrival in arrivals {
            switch arrival {
            case .message(var message):
                // The sender's status says nothing about this store, from which the message still has to be handed on.
                message.status = .pendingSync
                waiting.append(message)
                if trouble != nil { relay.tell(.notKept(message)) }
            case .malformed(let error): relay.tell(.malformed(error))
            }
        }
    }

    /// Stores all waiting messages in one write to the disk. Returns whether the relay's goal is reached; false if
    /// storing fails.
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
                    // The failed attempt probably stored the messages that are not new now, so count them as new.
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

    /// Retries until all waiting messages are stored.
    ///
    /// - Throws: `CancellationError`. The messages are not stored then: see ``finish()``.
    public mutating func untilStored() async throws {
        while trouble != nil, !waiting.isEmpty {
            try await relay.clock.sleep(for: Self.retryDelay)
            _ = await storeWaiting()
        }
    }

    /// Reports messages that were stored: one by one, but together those after the number of the goal was reached.
    private func tell(of messages: [RescueMessage]) {
        let surplus = messages.filter(goal.isSurplus)
        for message in messages where !goal.isSurplus(message) { relay.tell(.kept(message)) }
        if !surplus.isEmpty { relay.tell(.surplus(surplus)) }
    }
}
