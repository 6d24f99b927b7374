internal import BlueZ
internal import LineProtocol

/// A link over one or two characteristics of a BLE device. Sent bytes are cut into packets (``BLEOutbox``), unless the
/// link keeps packet bounds. For a device that holds values (see ``GATTProfile/values``), the link sends and receives
/// lines (``BLEValues``).
///
/// The link has its own connection to bluetoothd, and ends when the device disconnects: to reconnect, open another
/// link.
final class BLELink: ConfirmingLink {
    let name: String
    let executor: any SerialExecutor & TaskExecutor
    var keepsPacketBounds: Bool { route.keepsPacketBounds }
    var maximumWriteLength: Int? { route.values.isEmpty ? route.chunkLength : nil }
    var deviceAddress: String? { "\(device.address)" }
    var isDeviceAddressStable: Bool { device.hasStableAddress }
    var openingNote: String? {
        let notes = [route.reason, claim.note, closing == .leaving ? Self.sharingNote : nil].compactMap { $0 }
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }
    /// A hint on pairing: a device that requires pairing may silently drop the bytes that it receives, or never answer.
    /// nil if the device was paired, or has confirmed the last write or read.
    var silenceHint: String? { isPaired || !sender.isUnconfirmed ? nil : pairing.possibility }
    var confirmsWrites: Bool { !route.values.isEmpty || route.writeType == .request }
    /// The device's ``DeviceID``.
    var deviceID: String? { claim.deviceID }

    private static let sharingNote = "another program is subscribed to the device: values may arrive twice"

    /// The ways to leave the connection.
    enum Closing: Sendable {
        /// Closing waits until the device is disconnected.
        case disconnecting
        /// Closing only requests the disconnection.
        case atOnce
        /// The connection stays, because another program uses it as well.
        case leaving

        init(_ use: BLEUse, isHeardElsewhere: Bool) {
            self = isHeardElsewhere ? .leaving : use.closesAtOnce ? .atOnce : .disconnecting
        }

        /// Leaves the device in this way, closes the connection to bluetoothd, and releases the claim.
        func close(_ device: ConnectedDevice, of bluez: BlueZ, _ claim: BLEClaim) async {
            var isDisconnecting = false
            switch self {
            case .disconnecting: isDisconnecting = await !device.disconnect()
            case .atOnce:
                await device.beginDisconnecting()
                isDisconnecting = true
            case .leaving: await device.leave()
            }
            await bluez.close()
            claim.release(isDisconnecting: isDisconnecting)
        }
    }

    private let bluez: BlueZ
    private let device: ConnectedDevice
    private let route: GATTRoute
    private let claim: BLEClaim
    private let closing: Closing
    private let inbox: ArrivalInbox
    private let pairing: PairingAdvice
    /// Whether the device was paired with this computer when the link was opened.
    private let isPaired: Bool
    private let sender: any BLESender
    /// The subscriptions; empty if the device notifies nothing.
    private let subscriptions: [ValueSubscription]

    /// Creates a link, and subscribes to the device's notifications.
    init(
        _ device: ConnectedDevice, _ route: GATTRoute, of bluez: BlueZ, _ claim: BLEClaim, closing: Closing,
        name: String, _ pairing: PairingAdvice
    ) async throws(BLEError) {
        self.bluez = bluez
        self.device = device
        self.route = route
        self.claim = claim
        self.closing = closing
        self.name = name
        self.pairing = pairing
        isPaired = await device.isPaired
        executor = bluez.loop
        let inbox = ArrivalInbox(on: bluez.loop, name: name, keepsPacketBounds: route.keepsPacketBounds)
        self.inbox = inbox
        let values = route.values.isEmpty ? nil : BLEValues(device, route, inbox, name: name, pairing)
        sender = values ?? BLEOutbox(device, route, name: name, clock: bluez.clock, pairing)
        await device.onEnd { error in
            let lost = LinkError(
                error.code == .closed ? .closed : .disconnected, name: name, activity: "receive",
                detail: [.notRunning, .noBus].contains(error.code) ? error.reason : nil, hint: error.hint)
            inbox.assumeIsolated { $0.finish(lost.code == .closed ? nil : lost) }
        }
        var subscriptions: [ValueSubscription] = []
        if let values {
            for (value, characteristic) in route.values where characteristic.tells && value.access.contains(.notify) {
                subscriptions.append(
                    try await device.listen(to: characteristic) { bytes in
                        values.assumeIsolated { $0.hear(value, bytes) }
                    })
            }
        } else if route.hear.tells {
            subscriptions.append(
                try await device.listen(to: route.hear) { bytes in inbox.assumeIsolated { $0.append(bytes) } })
        }
        self.subscriptions = subscriptions
        // When the device is lost, a new link may claim it. If this initializer fails, the opener releases the claim.
        await device.onEnd { error in if error.code != .closed { claim.release(isDisconnecting: true) } }
    }

    /// Returns the largest payload of a notification, MTU - 3 bytes (Bluetooth Core 5.3, Vol 3, Part F, 3.4.7.1), but
    /// at most 512 bytes, the length limit of a value; nil if the link does not keep packet bounds.
    func packetCapacity() async -> Int? {
        keepsPacketBounds ? min(512, await device.mtu(of: route.hear) - 3) : nil
    }

    func signalStrength() async -> Int? { await device.signalStrength }

    func send(_ bytes: [UInt8]) async throws(LinkError) { try await sender.send(bytes) }

    func receive() async throws(LinkError) -> [UInt8]? { try await inbox.receive() }

    func receiveAvailable() async throws(LinkError) -> [UInt8] { try await inbox.receiveAvailable() }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async { await inbox.forward(to: receiver) }

    /// Requests an answer from the device. bluetoothd reports a device that is out of reach as connected until the
    /// supervision time-out, which is at most 32 s (Bluetooth Core 5.3, Vol 6, Part B, 4.5.2).
    func confirmConnection() async throws(LinkError) {
        do throws(BLEError) { try await device.confirmConnection() } catch {
            throw LinkError(confirming: error, name: name, pairing: pairing)
        }
    }

    /// Closes the link. Releasing the claim, which lets the next program in, comes last.
    func close() async {
        await inbox.finish(nil)
        await closing.close(device, of: bluez, claim)
    }
}

extension ConnectedDevice {
    /// Returns the first characteristic of the route that another program listens to; nil if there is none.
    func firstHeardElsewhere(of route: GATTRoute) -> GATTCharacteristic? {
        firstHeardElsewhere(of: route.values.isEmpty ? [route.hear] : Array(route.values.values))
    }

    /// Returns the first of several characteristics that another program listens to; nil if there is none.
    func firstHeardElsewhere(of characteristics: [GATTCharacteristic]) -> GATTCharacteristic? {
        characteristics.first { $0.tells && isHeardElsewhere($0) }
    }
}

extension GATTCharacteristic {
    /// Whether the characteristic can report its value without being read: it can notify or indicate.
    var tells: Bool { !flags.isDisjoint(with: [.notify, .indicate]) }
}
