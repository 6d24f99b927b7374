internal import BlueZ
internal import DescriptorIO
internal import LineProtocol
internal import Synchronization

/// Takes what is sent to a BLE device.
protocol BLESender: Sendable {
    /// Whether the device has not confirmed what it was last sent, or asked for: not yet, or because nothing confirms that.
    var isUnconfirmed: Bool { get }

    /// As ``Link/send(_:)``.
    func send(_ bytes: [UInt8]) async throws(LinkError)
}

/// Sends to a BLE device, packet by packet.
actor BLEOutbox: BLESender {
    nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    /// What every packet has room for, whatever the device and bluetoothd agree on.
    private static let leastPacket = 20

    private nonisolated let device: ConnectedDevice
    private let route: GATTRoute
    private let name: String
    private let clock: any Clock<Duration>
    private let pairing: PairingAdvice
    private let turns = TurnQueue()
    private let unconfirmed: Atomic<Bool>
    nonisolated var isUnconfirmed: Bool { unconfirmed.load(ordering: .relaxed) }

    init(
        _ device: ConnectedDevice, _ route: GATTRoute, name: String, clock: any Clock<Duration>,
        _ pairing: PairingAdvice
    ) {
        self.device = device
        self.route = route
        self.name = name
        self.clock = clock
        self.pairing = pairing
        unconfirmed = Atomic(route.writeType == .command)
    }

    /// Sends all of `bytes`, and nothing else in between. When the task is cancelled, nothing is sent behind the packet
    /// that is under way.
    ///
    /// - Throws: `unsupported` where each packet is a message of its own and this one fits in none; nothing was sent then.
    func send(_ bytes: [UInt8]) async throws(LinkError) {
        do throws(BLEError) {
            guard await turns.take() else { throw BLEError(.cancelled, activity: "sending") }
            defer { turns.release() }
            var rest = bytes[...]
            let length = await packetLength(for: bytes.count)
            if route.keepsPacketBounds, bytes.count > length {
                throw BLEError(
                    .unsupported, message: "\(bytes.count) bytes are too long for one write, which holds \(length)",
                    activity: "sending", hint: "send it in parts")
            }
            while !rest.isEmpty {
                if Task.isCancelled { throw BLEError(.cancelled, activity: "sending") }
                unconfirmed.store(true, ordering: .relaxed)
                try await device.write(Array(rest.prefix(length)), to: route.write, route.writeType)
                unconfirmed.store(route.writeType == .command, ordering: .relaxed)
                rest = rest.dropFirst(length)
                if !rest.isEmpty, route.pacing > .zero { try? await clock.sleep(for: route.pacing) }
            }
        } catch {
            throw LinkError(sending: error, name: name, pairing: pairing)
        }
    }

    /// A command that does not fit in a packet fails; a request is sent in parts by bluetoothd. How much fits is asked
    /// before each burst, since it grows right after connecting.
    private func packetLength(for count: Int) async -> Int {
        guard route.writeType == .command, min(count, route.chunkLength) > Self.leastPacket else {
            return route.chunkLength
        }
        return min(route.chunkLength, await device.mtu(of: route.write) - 3)
    }
}
