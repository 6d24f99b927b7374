public import BlueZ
public import DescriptorIO
public import FirmwareSim

/// A peer that users of this program operate: the peer sends the users' messages, and reports events to the users.
///
/// ```swift
/// let peer = HostedPeer(PeerFirmwareOptions(name: "QDevice1"), at: .radio(adapter: nil)) { print($0) }
/// try await peer.serve {
///     for line in ["Lunch is ready", "ON"] { await peer.say(Array(line.utf8)) }
///     try await Task.sleep(for: .seconds(60))
/// }
/// ```
public struct HostedPeer: Sendable {
    /// A place where a peer is offered.
    public enum Place: Sendable, Hashable {
        /// BLE, on the adapter of this name or address; nil for the first one that is on.
        case radio(adapter: String?)
        /// A line.
        case line(ServingPlace)
    }

    /// An event of a peer.
    public enum Event: Sendable {
        /// An event of the peer's service over BLE.
        case radio(PeripheralEvent)
        /// An event of the peer's line.
        case line(ServingEvent)
        /// An event of the peer itself, such as a message from the host.
        case peer(PeerFirmwareEvent)
    }

    private let loop: EventLoop
    private let sayMessage: @Sendable ([UInt8]) async -> Void
    private let offer: @Sendable () async throws -> Void

    /// Creates a peer that is not offered yet.
    ///
    /// - Parameters:
    ///   - options: The options of the peer. Over BLE, the carrier is notifications, whatever the options say.
    ///   - place: The place where the peer is offered.
    ///   - loop: The loop on which the peer runs.
    ///   - onEvent: Called for each event, on the loop's thread.
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

    /// Makes the peer send a message; see `PeerFirmware.say(_:at:)`.
    public func say(_ message: [UInt8]) async { await sayMessage(message) }

    /// Offers the peer until `body` ends, or the task is cancelled. `body` begins at once, perhaps before the peer is
    /// offered.
    ///
    /// - Throws: The errors of `DeviceHost.serve(onAdapter:onEvent:)` or
    ///   `DeviceHost.serve(at:onEvent:)`; the errors of `body`; `CancellationError`.
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
    /// The event in a form for programs, by stable keys; empty for an event that is not reported to programs.
    ///
    /// The key `event` has the name of the event: `ready` (with `port`), `interrupted` (with `error`), `connected` and
    /// `disconnected` (with `central`), `subscribed`, `unsubscribed`, `image_asked`, `hello`, `waiting`.
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
