import LineProtocol

/// Stores the messages that arrive, and tells of those that are new.
struct MessageIntake: Sendable {
    /// How many messages wait for a disk that takes none. What comes then waits on the link.
    private static let limit = 20_000
    /// How long a store that has failed is left alone.
    private static let retryDelay = Duration.seconds(1)

    private let store: any RescueStore
    private let context: CommandContext
    private let goal: MessageGoal
    /// What has arrived and is not stored.
    private var waiting: [RescueMessage] = []
    /// Why not, since it was last tried.
    private var trouble: RescueStoreError?
    /// Whether some of what waits may be stored all the same.
    private var isUncertain = false

    private var output: Output { context.output }

    /// - Parameter address: Of the device that the messages come from; nil for one that has none.
    init(_ relay: MessageRelay, from address: String?, _ context: CommandContext) {
        store = relay.entrance(from: address)
        goal = relay.goal
        self.context = context
    }

    /// Takes in what arrives on `link`, until it is closed or what was waited for has come. While nothing can be stored it
    /// goes on: see ``finish()``.
    ///
    /// - Returns: Whether that has come.
    /// - Throws: `LinkError` where the far end is gone.
    mutating func receive(from link: any Link) async throws -> Bool {
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
    /// - Throws: `Failure` where messages have come that could not be stored.
    func finish() throws(Failure) {
        guard let trouble, !waiting.isEmpty else { return }
        var failure = Failure(trouble)
        failure.message = "\(waiting.count) messages are not kept: \(trouble)"
        throw failure
    }

    /// What arrives next; nothing where it is time to try again to store what waits.
    private func next(in buffer: ArrivalBuffer) async throws(LinkError) -> [RescueArrival]? {
        guard trouble != nil else { return try await buffer.take() }
        let (context, isFull) = (context, waiting.count >= Self.limit)
        let pause = Task(executorPreference: context.loop) {
            if (try? await context.clock.sleep(for: Self.retryDelay)) != nil { buffer.wake() }
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
                if trouble != nil { warn(of: message) }
            case .malformed(let error): tell(of: error)
            }
        }
    }

    /// Stores what waits, all of it in one write to the disk. Returns whether what was waited for has come.
    private mutating func storeWaiting() async -> Bool {
        while !waiting.isEmpty {
            let batch = waiting
            do throws(RescueStoreError) {
                let new = try await store.insertNew(batch)
                if trouble != nil { output.note("pumpctl: messages are kept again") }
                trouble = nil
                waiting.removeFirst(batch.count)
                if isUncertain {
                    // Some of them were new to the store that was lost.
                    goal.take(batch.filter { message in !new.contains { $0.id == message.id } })
                }
                tell(of: isUncertain ? batch : new)
            } catch {
                if trouble == nil {
                    output.note("pumpctl: messages are not kept for now: \(error)", hint: error.hint)
                    for message in waiting { warn(of: message) }
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
    mutating func untilStored() async throws {
        while trouble != nil, !waiting.isEmpty {
            try await context.clock.sleep(for: Self.retryDelay)
            _ = await storeWaiting()
        }
    }

    /// Tells of messages that were stored; of those behind the last that was waited for only that they are kept.
    private func tell(of messages: [RescueMessage]) {
        let surplus = messages.filter(goal.isSurplus)
        for message in messages where !goal.isSurplus(message) { tell(of: message) }
        guard !surplus.isEmpty else { return }
        if surplus.contains(where: { $0.category == .sos }) { output.ringBell() }
        output.note("pumpctl: \(surplus.count) more came and are kept", hint: "see them: pumpctl message list")
    }

    /// A message that is not kept is none of the results; but somebody may need help.
    private func warn(of message: RescueMessage) {
        if message.category == .sos { output.ringBell() }
        output.note("pumpctl: not kept: \(MessageText.line(message, showsStatus: false))")
    }

    private func tell(of message: RescueMessage) {
        let isSOS = message.category == .sos
        if isSOS { output.ringBell() }
        output.result(
            MessageText.line(message, showsStatus: false), MessageRecord(message, event: isSOS ? "sos" : "message"))
    }

    private func tell(of error: RescueError) {
        let reason = "\(error)".printable()
        output.note("pumpctl: ignored: it is no message: \(reason): \(error.excerpt.printable())")
        output.record(MalformedRecord(code: error.code.rawValue, reason: reason))
    }
}

/// Something that came and is no message, as programs are told of it.
private struct MalformedRecord: Encodable {
    var event = "malformed"
    var code: String
    var reason: String
}
