import LineProtocol

/// Stores the messages that arrive, and tells of those that are new.
struct MessageIntake: Sendable {
    /// After what it ends.
    struct Ending: Sendable {
        /// After so many new messages; nil for no bound.
        var count: Int?
        /// After a new message of the category SOS.
        var isSOS = false
    }

    private let store: any RescueStore
    private let output: Output
    private let ending: Ending
    private var newCount = 0

    init(_ store: any RescueStore, _ output: Output, until ending: Ending = Ending()) {
        self.store = store
        self.output = output
        self.ending = ending
    }

    /// Takes in what arrives on `link`, until it is closed or what was waited for has come.
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
            while let arrivals = try await buffer.take() {
                if try await take(arrivals) { return true }
            }
            return false
        } onCancel: {
            reading.cancel()
        }
    }

    /// Returns whether what was waited for has come. What came with it is stored only as far as it counts.
    private mutating func take(_ arrivals: [RescueArrival]) async throws -> Bool {
        var messages: [RescueMessage] = []
        for arrival in arrivals {
            switch arrival {
            case .message(var message):
                message.status = .pendingSync
                messages.append(message)
            case .malformed(let error): tell(of: error)
            }
        }
        // One write to the disk for all of them, unless they are counted.
        for batch in ending.count == nil ? [messages] : messages.map({ [$0] }) {
            let new = try await store.insertNew(batch)
            for message in new { tell(of: message) }
            newCount += new.count
            if newCount == ending.count { return true }
            if ending.isSOS, new.contains(where: { $0.category == .sos }) { return true }
        }
        return false
    }

    private func tell(of message: RescueMessage) {
        let isSOS = message.category == .sos
        if isSOS { output.ringBell() }
        output.result(
            MessageText.line(message, showsStatus: false), MessageRecord(message, event: isSOS ? "sos" : "message"))
    }

    private func tell(of error: RescueError) {
        let reason = "\(error)".printable()
        output.note("pumpctl: left out, since it is no message: \(reason): \(error.excerpt.printable())")
        output.record(MalformedRecord(code: error.code.rawValue, reason: reason))
    }
}

/// Something that came and is no message, as programs are told of it.
private struct MalformedRecord: Encodable {
    var event = "malformed"
    var code: String
    var reason: String
}
