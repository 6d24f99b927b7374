public import BlueZ
public import FirmwareSim

/// A text and image peer on the Nordic UART Service. Each write is a message; each notification is a message, or a part
/// of a message that is too long for one notification.
///
/// ```swift
/// var peer = PeerPeripheral(PeerFirmwareOptions(name: "QDevice1"))
/// peer.take(.subscribed(PeerPeripheral.transmit), at: .zero)
/// for greeting in peer.advance(to: .zero) { print(String(decoding: greeting.bytes, as: UTF8.self)) }
/// ```
public struct PeerPeripheral: RadioShell {
    /// The service that centrals look for.
    public static let service: BluetoothUUID = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
    /// The characteristic that centrals write to.
    public static let receive: BluetoothUUID = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
    /// The characteristic by which the peer notifies.
    public static let transmit: BluetoothUUID = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"

    /// The peer itself.
    public var device: PeerFirmware
    public let offered: PeripheralDescription

    /// Creates a peer without a connected central. The peer is advertised under the name in its greeting.
    ///
    /// - Parameter options: The options of the peer. The carrier is notifications, whatever the options say.
    public init(_ options: PeerFirmwareOptions = PeerFirmwareOptions()) {
        var options = options
        options.carrier = .notifications
        device = PeerFirmware(options: options)
        offered = PeripheralDescription(
            name: options.name,
            services: [
                LocalService(
                    Self.service,
                    [
                        LocalCharacteristic(Self.receive, [.write, .writeWithoutResponse]),
                        // The size of a subscriber's packets is known only if the subscriber has a socket of its own.
                        LocalCharacteristic(Self.transmit, [.notify], delivery: .toEach),
                    ])
            ])
    }

    public static var notified: BluetoothUUID { transmit }

    public mutating func take(_ event: CentralEvent, at instant: Duration) {
        switch event {
        case .subscribed(Self.transmit): device.hostCame(at: instant)
        case .unsubscribed(Self.transmit): device.hostLeft(at: instant)
        case .wrote(let bytes, Self.receive, _): device.receive(bytes, at: instant)
        case .connected, .disconnected, .subscribed, .unsubscribed, .wrote: break
        }
    }

    public mutating func setNotificationLength(_ length: Int?) { device.notificationLength = length }
}
