internal import BlueZ
internal import DescriptorIO
internal import LineProtocol
internal import Synchronization

/// The sending side of a link to a BLE device.
protocol BLESender: Sendable {
    /// Whether the device has not confirmed the last write or read: not yet, or because writes are sent without
    /// confirmation.
    var isUnconfirmed: Bool { get }

    /// Sends all of `bytes`, as ``Link/send(_:)`` does.
    func send(_ bytes: [UInt8]) async throws(LinkError)
}

/// Sends bytes to a BLE device, packet by packet.
actor BLEOutbox: BLESender {
    nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    /// The payload in bytes that fits into a packet with any MTU: the smallest MTU, 23, less the header of 3 bytes.
    private static let leastPacket = 20

    private nonisolated let device: ConnectedDevice
    private let route: GATTRoute
    private let name: String
    private let clock: any Clock<Duration>
    private let pairing: PairingAdvice
    /// Lets calls of ``send(_:)`` run one at a time.
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

    /// Sends all of `bytes` without bytes of other senders in between. If the task is cancelled, the packet in flight
    /// is the last one.
    ///
    /// - Throws: `unsupported` if the carrier keeps packet bounds and `bytes` does not fit into one packet. In this
    ///   case, nothing was sent.
    func send(_ bytes: [UInt8]) async throws(LinkError) {
        do throws(BLEError) {
            guard await turns.take() else { throw BLEError(.cancelled, activity: "sending") }
            defer { turns.release() }
            var rest = bytes[...]
            let length = await packetLength(for: bytes.count)
            if route.keepsPacketBounds, bytes.count > length {
                throw BLEError(
                    .unsupported, message: "\(bytes.count) bytes are too long for one write, which holds \(length)",
                    activity: "sending", hint: "send the bytes in parts")
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

    /// Returns the length of a packet. A write command that does not fit into a packet fails, but bluetoothd splits a
    /// write request. The MTU is queried for each call of ``send(_:)``, because it grows right after connecting.
    private func packetLength(for count: Int) async -> Int {
        guard route.writeType == .command, min(count, route.chunkLength) > Self.leastPacket else {
            return route.chunkLength
        }
        return min(route.chunkLength, await device.mtu(of: route.write) - 3)
    }
}
