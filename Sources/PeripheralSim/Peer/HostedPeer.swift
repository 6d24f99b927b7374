public import BlueZ
public import DescriptorIO
public import FirmwareSim

/// A peer whose people are users of this program: it says what they have it say, and tells them what comes about.
///
/// ```swift
/// let peer = HostedPeer(PeerFirmwareOptions(name: "QDevice1"), at: .radio(adapter: nil)) { print($0) }
/// try await peer.serve {
///     for line in ["Lunch is ready", "ON"] { await peer.say(Array(line.utf8)) }
///     try await Task.sleep(for: .seconds(60))
/// }
/// ```
public struct HostedPeer: Sendable {
    /// Where it is offered.
    public enum Place: Sendable, Hashable {
        /// Over BLE, on the adapter of this name or address; nil for the first that is on.
        case radio(adapter: String?)
        /// On a line.
        case line(ServingPlace)
    }

    /// What comes about.
    public enum Event: Sendable {
        /// What becomes of it over BLE.
        case radio(PeripheralEvent)
        /// What becomes of it on a line.
        case line(ServingEvent)
        /// What somebody does to it.
        case peer(PeerFirmwareEvent)
    }

    private let loop: EventLoop
    private let sayMessage: @Sendable ([UInt8]) async -> Void
    private let offer: @Sendable () async throws -> Void

    /// A peer that is not offered yet.
    ///
    /// - Parameters:
    ///   - options: Which peer it is; over BLE its carrier are notifications, whatever they say.
    ///   - loop: What it runs on.
    ///   - onEvent: Called on the loop's thread with what comes about.
    public init(
        _ options: PeerFirmwareOptions, at place: Place, on loop: EventLoop = .shared,
        onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.loop = loop
        switch place {
        case .radio(let adapter):
            var peer = PeerPeripheral(options)
            peer.device.onEvent = { onEvent(.peer($0)) }
            let host = DeviceHost(peer, pace: .realTime(EventLoopClock(loop)), hasFlowControl: true, on: loop)
            sayMessage = { message in await host.change { $0.device.say(message, at: $1) } }
            offer = { try await host.serve(onAdapter: adapter) { onEvent(.radio($0)) } }
        case .line(let place):
            var peer = PeerFirmware(options: options)
            peer.onEvent = { onEvent(.peer($0)) }
            let host = DeviceHost(peer, pace: .realTime(EventLoopClock(loop)), hasFlowControl: true, on: loop)
            sayMessage = { message in await host.change { $0.say(message, at: $1) } }
            offer = { try await host.serve(at: place) { onEvent(.line($0)) } }
        }
    }

    /// Has the peer say something; see ``FirmwareSim/PeerFirmware/say(_:at:)``.
    public func say(_ message: [UInt8]) async { await sayMessage(message) }

    /// Offers the peer until `body` has come to its end, or the task is cancelled.
    ///
    /// - Throws: As ``DeviceHost/serve(onAdapter:onEvent:)`` or ``FirmwareSim/DeviceHost/serve(at:onEvent:)``; what `body` throws;
    ///   `CancellationError`.
    public func serve(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask(executorPreference: loop) { [offer] in
                try await offer()
                throw CancellationError()
            }
            group.addTask(executorPreference: loop) { try await body() }
            try await group.next()
        }
    }
}

extension HostedPeer.Event {
    /// The event for programs, by stable keys, of which `event` says what it is: `ready` and its `port`, `interrupted` and the
    /// `error`, `connected` and `disconnected` with their `central`, `subscribed`, `unsubscribed`, `image_asked`, `hello`,
    /// `waiting`. Empty for what else comes about.
    public var values: [String: String] {
        switch self {
        case .radio(.offered(let adapter)): ["event": "ready", "port": "ble:\(adapter.address)"]
        case .radio(.interrupted(let error)): ["event": "interrupted", "error": error.code.rawValue]
        case .radio(.connected(let central)): ["event": "connected", "central": "\(central)"]
        case .radio(.disconnected(let central)): ["event": "disconnected", "central": "\(central)"]
        case .peer(.listenerCame): ["event": "subscribed"]
        case .peer(.listenerLeft): ["event": "unsubscribed"]
        case .peer(.askedForImage): ["event": "image_asked"]
        case .peer(.greeted): ["event": "hello"]
        case .peer(.waits): ["event": "waiting"]
        case .radio(.subscribed), .radio(.unsubscribed), .line, .peer: [:]
        }
    }
}
