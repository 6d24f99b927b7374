internal import DBus
internal import DescriptorIO
internal import Glibc

/// The sockets by which single centrals are told, and write.
///
/// A packet of a socket is a notification, or what was written at once. That the kernel takes no more says that
/// bluetoothd has not taken what came before.
final class AcquiredSockets: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its loop only: by its peripheral, whose executor the loop is, and by what
    // its channels forward there.

    private struct Line {
        let characteristic: BluetoothUUID
        let central: BluetoothAddress?
        let channel: DescriptorChannel
    }

    private let loop: EventLoop
    private var tellers: [Line] = []
    private var listeners: [Line] = []

    init(on loop: EventLoop) { self.loop = loop }

    /// Tells those who have subscribed, or one of them; returns whether there was anybody.
    func send(
        _ value: [UInt8], _ characteristic: BluetoothUUID, to central: BluetoothAddress?, activity: String
    ) async throws(BLEError) -> Bool {
        var isHeard = false
        for line in lines(of: characteristic, to: central) {
            do throws(DescriptorError) {
                try await line.channel.write(value)
                isHeard = true
            } catch {
                guard error.code == .cancelled else { continue }  // that central has gone
                throw BLEError(.cancelled, activity: activity)
            }
        }
        return isHeard
    }

    /// Waits until bluetoothd has taken what was sent; returns whether anybody is there still.
    ///
    /// A socket tells how much of what was sent nobody has read, and not when that changes.
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

    /// Tells a central that has gone nothing more; its socket may say so later. What it has written is still read.
    func stopTelling(_ central: BluetoothAddress) {
        let lines = tellers.filter { $0.central == central }
        tellers.removeAll { $0.central == central }
        for line in lines { line.channel.assumeIsolated { $0.close() } }
    }

    /// Hangs up on all.
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

    // MARK: What bluetoothd asks for

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
                // There is nobody to tell that it was refused.
                case .success(let bytes?): try? peripheral?.assumeIsolated { try $0.write(bytes, to: uuid, request) }
                case .success(nil), .failure: self?.listeners.removeAll { $0.channel === line.channel }
                }
            }
        }
        return answer
    }

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

/// What has become of what was sent through a socket.
private enum SentState { case waiting, taken, lost }

extension DescriptorChannel {
    fileprivate var takenState: SentState {
        let state = try? withDescriptor { descriptor -> SentState in
            var unread: CInt = 0
            var byte: UInt8 = 0
            // The end of the other side throws away what it has not read, and is noticed here before it is told of.
            if recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 0 { return .lost }
            return ioctl(descriptor, UInt(TIOCOUTQ), &unread) == 0 && unread == 0 ? .taken : .waiting
        }
        return state ?? .lost
    }
}
