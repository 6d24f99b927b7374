internal import BlueZ
internal import DescriptorIO
internal import LineProtocol
internal import Synchronization

/// Carries out lines as reading and writing the values of a BLE device, and tells of the values in lines.
actor BLEValues: BLESender {
    /// What a line can hold: a value of 512 bytes and its name.
    static let lineLimit = 1024

    nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    private nonisolated let device: ConnectedDevice
    private let route: GATTRoute
    private let inbox: ArrivalInbox
    private let name: String
    private let pairing: PairingAdvice
    private let turns = TurnQueue()
    private let unconfirmed = Atomic(false)
    nonisolated var isUnconfirmed: Bool { unconfirmed.load(ordering: .relaxed) }
    private var framer = LineFramer(limit: lineLimit)
    /// Whether what comes next is the rest of a line that is too long.
    private var isAmidLine = false
    /// What was last told of a value since it was asked for.
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

    /// Carries out the lines that `bytes` end, one after another. As on a serial port nothing comes of a line that names no
    /// value of the device.
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

    /// Takes in what the device tells of a value.
    func hear(_ value: GATTValue, _ bytes: [UInt8]) {
        heard[value] = bytes
        inbox.assumeIsolated { $0.append(Array(value.line(bytes: bytes).utf8) + [0x0A]) }
    }

    /// What a line asks for.
    private enum Request {
        case read(GATTValue, GATTCharacteristic)
        case write(GATTValue, GATTCharacteristic, [UInt8])
    }

    /// What a line asks for; nil if it asks for nothing that can be done with a value of the device.
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
            // bluetoothd signals what was read to who listens, as if the device had told it, and right behind that answers
            // the call: where that was not the last that was heard, there was no such signal.
            if heard[value] != bytes { hear(value, bytes) }
        } catch {
            // The device still owes the answer to a read that was given up: there is none to this one as yet.
            guard error.code == .busy else { throw error }
        }
    }

    private func write(
        _ bytes: [UInt8], to value: GATTValue, _ characteristic: GATTCharacteristic
    ) async throws(BLEError) {
        try await device.write(bytes, to: characteristic, route.writeType)
        // The device has confirmed it, which nothing but the call tells: a value that it told meanwhile is another matter.
        unconfirmed.store(route.writeType == .command, ordering: .relaxed)
        hear(value, bytes)
    }
}
