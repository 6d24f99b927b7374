internal import BlueZ
internal import LineProtocol

/// Sends notifications to a central of an offered peripheral, once the central has subscribed.
actor OfferedOutbox {
    nonisolated var unownedExecutor: UnownedSerialExecutor { peripheral.unownedExecutor }

    /// The payload in bytes that fits into a notification with any MTU: the smallest MTU, 23, less 3 bytes of header.
    private static let shortestNotification = 20

    private nonisolated let peripheral: Peripheral
    private let central: BluetoothAddress?
    private let profile: GATTProfile
    private let name: String
    /// Lets calls of ``send(_:)`` run one at a time.
    private let turns = TurnQueue()
    /// Ends the wait of the sender that has the turn; nil if no sender waits for the subscription.
    private var waiting: AsyncStream<Never>.Continuation?
    private(set) var isSubscribed = false
    /// The reason that sending has ended; nil before the end.
    private var end: BLEError?

    init(to central: BluetoothAddress?, of peripheral: Peripheral, _ profile: GATTProfile, name: String) {
        self.central = central
        self.peripheral = peripheral
        self.profile = profile
        self.name = name
    }

    /// Records that the central has subscribed, and lets waiting senders go on.
    func subscribe() {
        isSubscribed = true
        waiting?.finish()
    }

    /// Ends sending. Only the first end counts.
    func end(_ error: BLEError) {
        guard end == nil else { return }
        end = error
        turns.dismissAll()
        waiting?.finish()
    }

    /// Waits until the central has subscribed, then sends all of `bytes` without bytes of other senders in between.
    /// Returns when bluetoothd has taken the bytes.
    ///
    /// - Throws: `unsupported` if the profile keeps packet bounds and `bytes` does not fit into one notification;
    ///   `disconnected` if the central has left; also, for example, `closed` or `cancelled`.
    func send(_ bytes: [UInt8]) async throws(LinkError) {
        do throws(BLEError) {
            guard await turns.take() else { throw end ?? BLEError(.cancelled, activity: "sending") }
            defer { turns.release() }
            await untilSubscribed()
            try check()
            let length = await peripheral.knownNotificationLength ?? Self.shortestNotification
            if profile.keepsPacketBounds, bytes.count > length {
                throw BLEError(
                    .unsupported, message: "\(bytes.count) bytes are too long for one notification of \(length)",
                    activity: "sending", hint: "send the bytes in parts")
            }
            var rest = bytes[...]
            while !rest.isEmpty {
                try check()
                guard try await peripheral.notify(Array(rest.prefix(length)), on: profile.hear, to: central) else {
                    throw BLEError(.disconnected, activity: "sending")
                }
                rest = rest.dropFirst(length)
            }
            let isThere = await peripheral.flush(profile.hear, to: central)
            try check()
            guard isThere else { throw BLEError(.disconnected, activity: "sending") }
        } catch {
            throw LinkError(error, name: name, activity: "send")
        }
    }

    /// Waits until the central has subscribed, sending has ended, or the task is cancelled.
    private func untilSubscribed() async {
        guard !isSubscribed, end == nil else { return }
        // A stream for each wait, because a cancellation ends the stream.
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        waiting = continuation
        for await _ in stream {}
        waiting = nil
    }

    private func check() throws(BLEError) {
        if let end { throw end }
        if Task.isCancelled { throw BLEError(.cancelled, activity: "sending") }
    }
}
