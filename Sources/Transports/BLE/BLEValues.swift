internal import BlueZ
internal import DescriptorIO
internal import LineProtocol
internal import Synchronization

/// Carries out lines as reading and writing the values of a BLE device, and tells of the values in lines.
actor BLEValues: BLESender {
    nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    private nonisolated let device: ConnectedDevice
    private let route: GATTRoute
    private let inbox: BLEInbox
    private let name: String
    private let pairing: PairingAdvice
    private let turns: Turns
    private let unconfirmed = Atomic(false)
    nonisolated var isUnconfirmed: Bool { unconfirmed.load(ordering: .relaxed) }
    private var framer = LineFramer(limit: LEDFamily.lineLimit)
    /// Whether what comes next is the rest of a line that is too long.
    private var isAmidLine = false
    /// What was last told of a value since it was asked for.
    private var heard: [LEDEndpoint: [UInt8]] = [:]

    init(
        _ device: ConnectedDevice, _ route: GATTRoute, _ inbox: BLEInbox, name: String, _ pairing: PairingAdvice
    ) {
        self.device = device
        self.route = route
        self.inbox = inbox
        self.name = name
        self.pairing = pairing
        turns = Turns()
    }

    /// Carries out the lines that `bytes` end, one after another. As on a serial port nothing comes of a line that names no
    /// value of the device.
    func send(_ bytes: [UInt8]) async throws(LinkError) {
        do throws(BLEError) {
            try await turns.take(activity: "sending")
            defer { turns.release() }
            var commands: [LEDCommand] = []
            framer.append(bytes.span) { line, ending in
                if !isAmidLine, let command = LEDCommand(line: line, ending: ending) { commands.append(command) }
                isAmidLine = ending == .cut
            }
            for command in commands { try await carryOut(command) }
        } catch {
            throw LinkError(sending: error, name: name, pairing: pairing)
        }
    }

    /// Takes in what the device tells of a value.
    func hear(_ endpoint: LEDEndpoint, _ bytes: [UInt8]) {
        heard[endpoint] = bytes
        inbox.assumeIsolated { $0.append(Array(endpoint.line(bytes: bytes).utf8) + [0x0A]) }
    }

    private func carryOut(_ command: LEDCommand) async throws(BLEError) {
        unconfirmed.store(true, ordering: .relaxed)
        switch command {
        case .read(let endpoint): try await read(endpoint)
        case .write(let endpoint, let value): try await write(value.bytes, to: endpoint)
        }
    }

    private func read(_ endpoint: LEDEndpoint) async throws(BLEError) {
        guard let characteristic = route.values[endpoint] else { return }
        heard[endpoint] = nil
        do throws(BLEError) {
            let bytes = try await device.read(characteristic)
            unconfirmed.store(false, ordering: .relaxed)
            // bluetoothd signals what was read to who listens, as if the device had told it, and right behind that answers
            // the call: where that was not the last that was heard, there was no such signal.
            if heard[endpoint] != bytes { hear(endpoint, bytes) }
        } catch {
            // The device still owes the answer to a read that was given up: there is none to this one as yet.
            guard error.code == .busy else { throw error }
        }
    }

    private func write(_ bytes: [UInt8], to endpoint: LEDEndpoint) async throws(BLEError) {
        guard let characteristic = route.values[endpoint] else { return }
        try await device.write(bytes, to: characteristic, route.writeType)
        // The device has confirmed it, which nothing but the call tells: a value that it told meanwhile is another matter.
        unconfirmed.store(route.writeType == .command, ordering: .relaxed)
        hear(endpoint, bytes)
    }
}
