internal import BlueZ
internal import DescriptorIO
internal import LineProtocol

/// Tells a central of a device that this program offers, notification by notification, from when it has subscribed.
actor OfferedOutbox {
    nonisolated var unownedExecutor: UnownedSerialExecutor { peripheral.unownedExecutor }

    /// What every notification has room for.
    private static let shortestNotification = 20

    private nonisolated let peripheral: Peripheral
    private let central: BluetoothAddress?
    private let profile: GATTProfile
    private let name: String
    private let turns = TurnQueue()
    /// Nothing comes of it; it ends once there is no reason to wait any more.
    private let waiting: AsyncStream<Never>
    private let waitingEnd: AsyncStream<Never>.Continuation
    private(set) var isSubscribed = false
    private var end: BLEError?

    init(
        to central: BluetoothAddress?, of peripheral: Peripheral, _ profile: GATTProfile, name: String,
        on loop: EventLoop
    ) {
        self.central = central
        self.peripheral = peripheral
        self.profile = profile
        self.name = name
        (waiting, waitingEnd) = AsyncStream.makeStream()
    }

    /// The central wants to be told.
    func subscribe() {
        isSubscribed = true
        waitingEnd.finish()
    }

    /// There is nobody to be told any more. Only the first end counts.
    func end(_ error: BLEError) {
        guard end == nil else { return }
        end = error
        turns.dismissAll()
        waitingEnd.finish()
    }

    /// Sends all of `bytes`, and nothing else in between, and returns once bluetoothd has taken it.
    func send(_ bytes: [UInt8]) async throws(LinkError) {
        do throws(BLEError) {
            guard await turns.take() else { throw end ?? BLEError(.cancelled, activity: "sending") }
            defer { turns.release() }
            for await _ in waiting {}
            let length = await peripheral.knownNotificationLength ?? Self.shortestNotification
            if profile.keepsPacketBounds, bytes.count > length {
                throw BLEError(
                    .unsupported, message: "\(bytes.count) bytes are too long for one notification of \(length)",
                    activity: "sending", hint: "send it in parts")
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

    private func check() throws(BLEError) {
        if let end { throw end }
        if Task.isCancelled { throw BLEError(.cancelled, activity: "sending") }
    }
}
