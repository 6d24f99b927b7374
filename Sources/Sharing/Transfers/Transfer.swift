internal import ControlProtocol
internal import DeviceKit
internal import LineProtocol
internal import StrictJSON

/// A content that a program fetches on its control connection: the received bytes that wait to be sent to the program,
/// and the result.
///
/// Less than a piece and the bytes of one read of the link may wait: whole pieces are sent before the device is read
/// further.
final class Transfer: @unchecked Sendable {
    // @unchecked: only the thread of the devices' loop uses this object, through the connection, and through the asker,
    // which a speaker calls on that thread.

    /// The maximum number of bytes in a piece: 48 KiB in base64. Each piece has two events, so small
    /// pieces would cost more time for the same bytes.
    static let pieceLength = 36_864
    /// The longest time for which received bytes wait for a piece to be full, as long as more bytes arrive.
    static let pieceTime = Duration.milliseconds(250)

    /// The ID of the program's request.
    let id: JSONValue
    let device: SharedDevice
    let content: SharedContent
    /// The number of bytes that were sent to the program.
    private(set) var byteCount = 0

    private let clock: SessionClock
    /// The clock time of the last event.
    private var lastEvent = Duration.zero
    private var reception: any Reception
    /// The bytes of the content that were received and not sent to the program yet.
    private var waiting: [UInt8] = []
    /// Whether the first `progress` event was sent.
    private var isAnnounced = false
    private var result: Result<[String: JSONValue], ControlFailure>?
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ id: JSONValue, of content: SharedContent, from device: SharedDevice, clock: any Clock<Duration>) {
        (self.id, self.content, self.device) = (id, content, device)
        self.clock = SessionClock(clock)
        reception = content.begin()
    }

    /// Whether the result is known. Anything more that the device sends is dropped.
    var isOver: Bool { result != nil }

    /// Whether a part of the reply has shown that the content is incomplete or damaged.
    var hasFailed: Bool { reception.failure != nil }

    // MARK: Input

    /// Adds a part of the device's reply.
    func take(_ bytes: [UInt8]) {
        if !isOver, !hasFailed { waiting += reception.take(bytes) }
    }

    /// Ends the device's reply, which is complete.
    func finish() {
        if !isOver, !hasFailed { waiting += reception.finish() }
    }

    // MARK: Output

    /// Whether there is an event to send.
    ///
    /// - Parameter isLast: Whether the content has ended, so that the rest is sent although it is no whole piece.
    func hasEvents(isLast: Bool) -> Bool {
        if isOver { return false }
        if !isAnnounced { return reception.hasBegun || isLast && !waiting.isEmpty }
        if waiting.isEmpty { return false }
        return isLast || waiting.count >= Self.pieceLength || clock.elapsed() - lastEvent >= Self.pieceTime
    }

    /// Removes and returns the next events, as lines that are sent at once: the first progress, or a piece and the
    /// progress that it makes.
    func takeEvents() -> [UInt8] {
        lastEvent = clock.elapsed()
        guard isAnnounced else {
            isAnnounced = true
            return progress
        }
        let piece = Array(waiting.prefix(Self.pieceLength))
        waiting.removeFirst(piece.count)
        let event = event("piece", ["offset": .integer(byteCount), "data": .base64(piece)])
        byteCount += piece.count
        return event + progress
    }

    private var progress: [UInt8] {
        event(
            "progress",
            [
                "bytes": .integer(byteCount), "total": reception.byteCount.map(JSONValue.integer),
                "name": reception.name.map(JSONValue.text),
            ])
    }

    private func event(_ name: String, _ members: [String: JSONValue?]) -> [UInt8] {
        ControlMessage.event(
            name,
            members.compactMapValues(\.self).merging(["transfer": id, "device": .text(device.settings.name)]) { $1 })
    }

    // MARK: The result

    /// Ends the transfer after everything was sent.
    ///
    /// - Parameter error: The reason that the device's reply is incomplete; nil if it is complete.
    func end(_ error: SharingError?) {
        if let failure = reception.failure {
            end(.failure(self.failure(failure)))
        } else if let error {
            end(.failure(failure(error)))
        } else {
            end(.success(reception.check.merging(["bytes": .integer(byteCount)]) { $1 }))
        }
    }

    /// Ends the transfer early, because of the program.
    func giveUp(_ code: String, _ reason: String, hint: String? = nil) {
        end(.failure(failure(code, reason, hint: hint, byteCount: byteCount)))
    }

    /// Only the first result counts.
    private func end(_ result: Result<[String: JSONValue], ControlFailure>) {
        guard self.result == nil else { return }
        self.result = result
        waiting = []
        waiter?.resume()
        waiter = nil
    }

    /// Waits for the end, and returns the members of the response.
    func members() async throws(ControlFailure) -> [String: JSONValue] {
        if result == nil { await withCheckedContinuation { waiter = $0 } }
        return try result?.get() ?? [:]
    }

    private func failure(_ failure: ReceptionFailure) -> ControlFailure {
        switch failure {
        case .session(let error): self.failure(SharingError.session(error))
        case .brokenOff(let code, let reason, let hint): self.failure(code, reason, hint: hint, byteCount: byteCount)
        // The place of the damage is unknown, so no byte counts as right.
        case .damaged(let code, let reason, let hint): self.failure(code, reason, hint: hint, byteCount: 0)
        }
    }

    private func failure(_ error: SharingError) -> ControlFailure {
        // A speaker reports a missing part as a reply that is not understood.
        if case .session(let error) = error, error.code == .notUnderstood, byteCount > 0 {
            return failure(
                "gaps", "a part of the \(content.name) is missing",
                hint: "have the device send shorter packets, or connect it by a serial port", byteCount: byteCount)
        }
        var failure = ControlFailure(error, device)
        failure.hint = failure.hint ?? "transfer the \(content.name) again"
        failure.byteCount = byteCount
        return failure
    }

    private func failure(_ code: String, _ reason: String, hint: String?, byteCount: Int) -> ControlFailure {
        var failure = ControlFailure(
            code, "\(device.settings.name): \(reason)", hint: hint,
            outcome: SessionError.Outcome.nothingChanged.rawValue)
        failure.byteCount = byteCount
        return failure
    }
}
