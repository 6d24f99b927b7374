internal import DBus
internal import DescriptorIO
internal import Glibc

/// The sockets over which individual centrals receive notifications and write, for characteristics with
/// ``LocalCharacteristic/Delivery/toEach``. bluetoothd has the other ends, from its calls of `AcquireNotify` and
/// `AcquireWrite`.
///
/// Each packet in a socket is one notification or one write. While bluetoothd does not read, the socket fills up and
/// the next notification waits.
final class AcquiredSockets: @unchecked Sendable {
    // @unchecked: all accesses are on the loop's thread, by the peripheral, whose executor the loop is, and by the
    // receivers of the channels.

    /// A socket for one central and one characteristic.
    private struct Line {
        let characteristic: BluetoothUUID
        /// The address of the central; nil if bluetoothd has not reported it.
        let central: BluetoothAddress?
        let channel: DescriptorChannel
    }

    private let loop: EventLoop
    /// The sockets for notifications.
    private var tellers: [Line] = []
    /// The sockets for writes.
    private var listeners: [Line] = []

    init(on loop: EventLoop) { self.loop = loop }

    /// Sends a notification to one subscriber of a characteristic, or to all if `central` is nil. Subscribers whose
    /// addresses are unknown get it in either case. Returns whether any socket took the notification.
    func send(
        _ value: [UInt8], _ characteristic: BluetoothUUID, to central: BluetoothAddress?, activity: String
    ) async throws(BLEError) -> Bool {
        var isHeard = false
        for line in lines(of: characteristic, to: central) {
            do throws(DescriptorError) {
                try await line.channel.write(value)
                isHeard = true
            } catch {
                guard error.code == .cancelled else { continue }  // this central has left
                throw BLEError(.cancelled, activity: activity)
            }
        }
        return isHeard
    }

    /// Waits until bluetoothd has read all packets, or the task is cancelled. Returns whether the socket of any
    /// subscriber is open and all its packets were read.
    ///
    /// The function polls every 2 ms: the kernel reports the amount of unread data, but does not signal when it
    /// changes.
    func flush(_ characteristic: BluetoothUUID, to central: BluetoothAddress?) async -> Bool {
        while true {
            let states = lines(of: characteristic, to: central).map { $0.channel.assumeIsolated { $0.takenState } }
            if !states.contains(.waiting) || Task.isCancelled { return states.contains(.taken) }
            try? await EventLoopClock(loop).sleep(for: .milliseconds(2))
        }
    }

    private func lines(of characteristic: BluetoothUUID, to central: BluetoothAddress?) -> [Line] {
        tellers.filter {
            $0.characteristic == characteristic && (central == nil || $0.central == nil || $0.central == central)
        }
    }

    /// Stops notifications to a central that has left, before its socket reports the end. Data that the central has
    /// written is still read.
    func stopTelling(_ central: BluetoothAddress) {
        let lines = tellers.filter { $0.central == central }
        tellers.removeAll { $0.central == central }
        for line in lines { line.channel.assumeIsolated { $0.close() } }
    }

    /// Closes all sockets.
    func close() {
        let lines = tellers + listeners
        tellers = []
        listeners = []
        for line in lines { line.channel.assumeIsolated { $0.close() } }
    }

    func isTelling(_ characteristic: BluetoothUUID) -> Bool {
        tellers.contains { $0.characteristic == characteristic }
    }

    func isListening(_ characteristic: BluetoothUUID) -> Bool {
        listeners.contains { $0.characteristic == characteristic }
    }

    // MARK: Calls of bluetoothd

    /// Returns the methods by which bluetoothd gets its ends of the sockets.
    static func methods(of facts: LocalCharacteristic, _ peripheral: Peripheral) -> [DBusMethod] {
        let inputs = [DBusArgument("options", "a{sv}")]
        let outputs = [DBusArgument("fd", "h"), DBusArgument("mtu", "q")]
        return [
            DBusMethod("AcquireNotify", inputs: inputs, outputs: outputs) { [weak peripheral] call in
                guard let peripheral, facts.tells else { throw ATTError.notSupported.answer }
                return try await peripheral.sockets.openTeller(
                    facts.uuid, call.arguments[0].properties ?? [:], peripheral)
            },
            DBusMethod("AcquireWrite", inputs: inputs, outputs: outputs) { [weak peripheral] call in
                guard let peripheral, facts.isWritable else { throw ATTError.notSupported.answer }
                return try await peripheral.sockets.openListener(
                    facts.uuid, call.arguments[0].properties ?? [:], peripheral)
            },
        ]
    }

    /// Returns the properties whose presence tells bluetoothd that it may call the methods. A characteristic that is
    /// written only with confirmation gets no `WriteAcquired`: its writes remain calls of `WriteValue`, which can be
    /// refused.
    static func properties(of facts: LocalCharacteristic, _ peripheral: Peripheral) -> [DBusProperty] {
        var properties: [DBusProperty] = []
        if facts.tells {
            properties.append(
                DBusProperty("NotifyAcquired", "b") { [weak peripheral] in
                    .boolean(peripheral?.sockets.isTelling(facts.uuid) ?? false)
                })
        }
        if facts.flags.contains(.writeWithoutResponse) {
            properties.append(
                DBusProperty("WriteAcquired", "b") { [weak peripheral] in
                    .boolean(peripheral?.sockets.isListening(facts.uuid) ?? false)
                })
        }
        return properties
    }

    /// Answers `AcquireNotify`: opens a socket for a new subscriber. The subscription ends when bluetoothd closes its
    /// end.
    private func openTeller(
        _ uuid: BluetoothUUID, _ options: [String: DBusValue], _ peripheral: isolated Peripheral
    ) throws(DBusError) -> [DBusValue] {
        let (line, answer) = try open(uuid, options, peripheral)
        tellers.append(line)
        line.channel.assumeIsolated { channel in
            channel.forward { [weak self, weak peripheral] arrival in
                if case .success(_?) = arrival { return }
                guard let self else { return }
                tellers.removeAll { $0.channel === line.channel }
                if !isTelling(uuid) { peripheral?.assumeIsolated { $0.setSubscribed(false, uuid) } }
            }
        }
        peripheral.setSubscribed(true, uuid)
        peripheral.handlers.subscribe?(uuid, ATTRequest(options))
        return answer
    }

    /// Answers `AcquireWrite`: opens a socket, and handles each packet from it as a write.
    private func openListener(
        _ uuid: BluetoothUUID, _ options: [String: DBusValue], _ peripheral: isolated Peripheral
    ) throws(DBusError) -> [DBusValue] {
        let (line, answer) = try open(uuid, options, peripheral)
        listeners.append(line)
        var request = ATTRequest(options)
        request.kind = .command
        line.channel.assumeIsolated { [request] channel in
            channel.forward { [weak self, weak peripheral] arrival in
                switch arrival {
                // A write over a socket can't be refused: no reply leads back to the central.
                case .success(let bytes?): try? peripheral?.assumeIsolated { try $0.write(bytes, to: uuid, request) }
                case .success(nil), .failure: self?.listeners.removeAll { $0.channel === line.channel }
                }
            }
        }
        return answer
    }

    /// Creates a pair of sockets.
    ///
    /// - Returns: This program's end, and the answer with bluetoothd's end.
    private func open(
        _ uuid: BluetoothUUID, _ options: [String: DBusValue], _ peripheral: isolated Peripheral
    ) throws(DBusError) -> (Line, [DBusValue]) {
        let request = ATTRequest(options)
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ATTError.failed.answer }
        peripheral.noteGuest(request)
        let channel = DescriptorChannel(taking: ends[0], kind: .socket, on: loop)
        let line = Line(characteristic: uuid, central: request.central, channel: channel)
        return (line, [.unixFD(OwnedDescriptor(taking: ends[1])), .uint16(UInt16(clamping: request.mtu))])
    }
}

/// The state of the packets that were sent over a socket: bluetoothd has not read all of them (`waiting`), has read all
/// (`taken`), or has closed its end (`lost`).
private enum SentState { case waiting, taken, lost }

extension DescriptorChannel {
    fileprivate var takenState: SentState {
        let state = try? withDescriptor { descriptor -> SentState in
            var unread: CInt = 0
            var byte: UInt8 = 0
            // If bluetoothd has closed its end, unread packets were discarded. Detect that here: the event loop reports
            // it later.
            if recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 0 { return .lost }
            return ioctl(descriptor, UInt(TIOCOUTQ), &unread) == 0 && unread == 0 ? .taken : .waiting
        }
        return state ?? .lost
    }
}
