internal import CaptureFormat
internal import DescriptorIO
internal import LineProtocol
internal import Synchronization

/// A link that replays a captured device.
final class ReplayLink: Link {
    let name: String
    var keepsPacketBounds: Bool { facts.keepsPacketBounds }
    var maximumWriteLength: Int? { facts.maximumWriteLength }
    var deviceAddress: String? { facts.deviceAddress }
    var isDeviceAddressStable: Bool { facts.isDeviceAddressStable }
    var mayHaveReset: Bool { facts.mayHaveReset }
    var mayBeMidLine: Bool { facts.mayBeMidLine }
    var executor: any SerialExecutor & TaskExecutor { inbox.loop }
    /// The first act of the capture that the host left out by closing the link; nil if there is none.
    var remark: String? { player.leftOver.withLock { $0 } }

    private let facts: CarrierFacts
    private let inbox: ArrivalInbox
    private let player: ReplayPlayer
    private let playing: Task<Void, Never>

    init(
        _ tape: consuming ReplayTape, name: String, isPaced: Bool, clock: any Clock<Duration>, on loop: EventLoop,
        onDeparture: @escaping @Sendable (LinkError) -> Void
    ) {
        self.name = name
        facts = tape.facts
        inbox = ArrivalInbox(on: loop, name: name, keepsPacketBounds: tape.facts.keepsPacketBounds)
        let player = ReplayPlayer(
            into: inbox, name: name, keepsPacketBounds: tape.facts.keepsPacketBounds,
            pace: isPaced ? SessionClock(clock) : nil, onDeparture: onDeparture)
        self.player = player
        // A closure can't consume a noncopyable value that it has captured, so the task takes the tape from a box.
        let box = Mutex<ReplayTape?>(tape)
        playing = Task(executorPreference: loop) {
            guard let tape = box.withLock({ $0.take() }) else { return }
            await player.play(tape)
        }
    }

    func packetCapacity() async -> Int? { facts.packetCapacity }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        if Task.isCancelled { throw LinkError(.cancelled, name: name, activity: "send") }
        try await player.take(.sends(bytes))
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        let result = player.assumeIsolated { player in
            Result { () throws(LinkError) in try player.take(.sends(bytes)) }
        }
        try result.get()
        return true
    }

    func sendBreak(for duration: Duration) async throws(LinkError) { try await player.take(.sendsBreak) }

    func receive() async throws(LinkError) -> [UInt8]? { try await inbox.receive() }

    func receiveAvailable() async throws(LinkError) -> [UInt8] { try await inbox.receiveAvailable() }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async { await inbox.forward(to: receiver) }

    func close() async {
        await player.close()
        await inbox.finish(nil)
        playing.cancel()
        await playing.value
    }
}
