import BlueZ
import DescriptorIO
import FirmwareSim
import LineProtocol
import PeripheralSim
import Terminal

/// `peer host`: a peer whose people are at this terminal, or at the other end of a pipe.
///
/// Everything that comes about is an event of one stream, so that what arrives is shown above the line that is typed.
struct PeerHosting: Sendable {
    private let context: CommandContext
    private let events: AsyncStream<PeerHostEvent>.Continuation
    private let stream: AsyncStream<PeerHostEvent>

    init(_ context: CommandContext) {
        self.context = context
        (stream, events) = AsyncStream.makeStream(of: PeerHostEvent.self)
    }

    /// Offers `peer` over BLE until the user or a signal ends it.
    func run(_ peer: PeerPeripheral, over adapter: String?) async throws {
        var peer = peer
        peer.device.onEvent = tell
        let host = DeviceHost(peer, pace: .realTime(context.clock), hasFlowControl: true, on: context.loop)
        try await run(say: { bytes in await host.change { $0.device.say(bytes, at: $1) } }) {
            try await host.serve(onAdapter: adapter) { [events] in events.yield(.radio($0)) }
        }
    }

    /// Offers `peer` on a line until the user or a signal ends it.
    func run(_ peer: PeerFirmware, on serving: ServingOptions) async throws {
        var peer = peer
        peer.onEvent = tell
        let host = DeviceHost(peer, pace: .realTime(context.clock), hasFlowControl: true, on: context.loop)
        try await run(say: { bytes in await host.change { $0.say(bytes, at: $1) } }) {
            try await serving.serve(context, onReady: { [events] in events.yield(.ready($0, port: $1)) }) {
                try await host.serve(at: $0, onEvent: $1)
            }
        }
    }

    private var tell: @Sendable (PeerFirmwareEvent) -> Void { { [events] in events.yield(.peer($0)) } }

    /// - Parameters:
    ///   - say: Has the peer say something.
    ///   - serve: Offers the peer until the task is cancelled.
    private func run(
        say: @escaping @Sendable ([UInt8]) async -> Void, serve: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask(executorPreference: context.loop) {
                try await serve()
                throw CancellationError()
            }
            group.addTask(executorPreference: context.loop) {
                try await PeerHostScreen(context, events).attend(to: stream, say: say)
            }
            try await group.next()
        }
    }
}

/// What a hosted peer has to attend to.
enum PeerHostEvent: Sendable {
    /// It is offered on a line.
    case ready(String, port: String)
    /// What has become of it over BLE.
    case radio(PeripheralEvent)
    /// What somebody did to it.
    case peer(PeerFirmwareEvent)
    /// Something was typed, or came through the pipe.
    case input(LineScreen.Event)
}
