internal import BlueZ
internal import DescriptorIO
internal import LineProtocol
internal import Synchronization

/// Translates between lines and the values of a BLE device: a sent line reads or writes a value, and notified values
/// are received as lines.
actor BLEValues: BLESender {
    /// The length limit of a line in bytes: a value of 512 bytes and its name.
    static let lineLimit = 1024

    nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    private nonisolated let device: ConnectedDevice
    private let route: GATTRoute
    private let inbox: ArrivalInbox
    private let name: String
    private let pairing: PairingAdvice
    /// Lets calls of ``send(_:)`` run one at a time.
    private let turns = TurnQueue()
    private let unconfirmed = Atomic(false)
    nonisolated var isUnconfirmed: Bool { unconfirmed.load(ordering: .relaxed) }
    private var framer = LineFramer(limit: lineLimit)
    /// Whether the next bytes continue a line that is too long.
    private var isAmidLine = false
    /// The bytes that ``hear(_:_:)`` last took for each value, since the last read of the value began.
    private var heard: [GATTValue: [UInt8]] = [:]

    init(
        _ device: ConnectedDevice, _ route: GATTRoute, _ inbox: ArrivalInbox, name: String, _ pairing: PairingAdvice
    ) {
        self.device = device
        self.route = route
        self.inbox = inbox
        self.name = name
        self.pairing = pairing
    }

    /// Performs the lines that `bytes` completes, one after another. A line that is no request (``request(_:)``) has no
    /// effect, as on a serial port.
    func send(_ bytes: [UInt8]) async throws(LinkError) {
        do throws(BLEError) {
            guard await turns.take() else { throw BLEError(.cancelled, activity: "sending") }
            defer { turns.release() }
            var requests: [Request] = []
            framer.append(bytes.span) { line, ending in
                if !isAmidLine, ending != .cut, let request = request(line) { requests.append(request) }
                isAmidLine = ending == .cut
            }
            for request in requests { try await carryOut(request) }
        } catch {
            throw LinkError(sending: error, name: name, pairing: pairing)
        }
    }

    /// Passes a value to the inbox as a line: the device has notified it, or it was read or written.
    func hear(_ value: GATTValue, _ bytes: [UInt8]) {
        heard[value] = bytes
        inbox.assumeIsolated { $0.append(Array(value.line(bytes: bytes).utf8) + [0x0A]) }
    }

    /// The request of a line.
    private enum Request {
        case read(GATTValue, GATTCharacteristic)
        case write(GATTValue, GATTCharacteristic, [UInt8])
    }

    /// Parses the request of a line; nil if the line names no value of the device, sets an invalid value, or requests
    /// an operation that the value does not support.
    private func request(_ line: Span<UInt8>) -> Request? {
        let line = line.withUnsafeBufferPointer { Array($0) }
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let (value, characteristic) = route.values.first(where: { parts[0].elementsEqual($0.key.name.utf8) })
        else {
            return nil
        }
        guard parts.count == 2 else { return value.access.contains(.read) ? .read(value, characteristic) : nil }
        guard value.access.contains(.write),
            let bytes = value.encoding.bytes(text: String(decoding: parts[1], as: UTF8.self))
        else { return nil }
        return .write(value, characteristic, bytes)
    }

    private func carryOut(_ request: Request) async throws(BLEError) {
        unconfirmed.store(true, ordering: .relaxed)
        switch request {
        case .read(let value, let characteristic): try await read(value, characteristic)
        case .write(let value, let characteristic, let bytes): try await write(bytes, to: value, characteristic)
        }
    }

    private func read(_ value: GATTValue, _ characteristic: GATTCharacteristic) async throws(BLEError) {
        heard[value] = nil
        do throws(BLEError) {
            let bytes = try await device.read(characteristic)
            unconfirmed.store(false, ordering: .relaxed)
            // bluetoothd signals a read value to subscribers as if the device had notified it, just before it answers
            // the call. If the last notified value differs, there was no such signal.
            if heard[value] != bytes { hear(value, bytes) }
        } catch {
            // `busy`: the device has not answered an earlier read, whose caller has given up. This read gets no answer.
            guard error.code == .busy else { throw error }
        }
    }

    private func write(
        _ bytes: [UInt8], to value: GATTValue, _ characteristic: GATTCharacteristic
    ) async throws(BLEError) {
        try await device.write(bytes, to: characteristic, route.writeType)
        // Only the reply to the call confirms the write. A value that was notified in between is a separate event.
        unconfirmed.store(route.writeType == .command, ordering: .relaxed)
        hear(value, bytes)
    }
}
