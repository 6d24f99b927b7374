public import BlueZ
public import FirmwareSim

/// A phone with the rescue app, as centrals find it. The phone sends its messages to subscribers, and receives the
/// messages that centrals write.
///
/// ```swift
/// var phone = RescuePeripheral(RescueFirmwareOptions(messages: 1))
/// phone.setNotificationLength(514)
/// phone.take(.subscribed(RescuePeripheral.messages), at: .zero)
/// for notification in phone.advance(to: .seconds(1)) { print(String(decoding: notification.bytes, as: UTF8.self)) }
/// ```
public struct RescuePeripheral: RadioShell {
    /// The service that centrals look for.
    public static let service: BluetoothUUID = "FFF0"
    /// The characteristic for messages, in both directions.
    public static let messages: BluetoothUUID = "FFF1"

    /// The phone itself.
    public var device: RescueFirmware
    public let offered: PeripheralDescription

    /// Creates a phone without a connected central.
    ///
    /// - Parameters:
    ///   - options: The options of the phone. The carrier is notifications, whatever the options say.
    ///   - name: The name over BLE.
    public init(_ options: RescueFirmwareOptions = RescueFirmwareOptions(), name: String = "Rescue") {
        var options = options
        options.carrier = .notifications
        device = RescueFirmware(options: options)
        // With `.toEach`, bluetoothd opens a socket for each subscriber, which gives the subscriber's MTU. The MTU of a
        // central that only subscribes is unknown otherwise, and messages would be cut into pieces of 20 bytes.
        let messages = LocalCharacteristic(Self.messages, [.write, .notify], delivery: .toEach)
        offered = PeripheralDescription(name: name, services: [LocalService(Self.service, [messages])])
    }

    public static var notified: BluetoothUUID { messages }

    public mutating func take(_ event: CentralEvent, at instant: Duration) {
        switch event {
        case .subscribed(Self.messages): device.hostCame(at: instant)
        case .unsubscribed(Self.messages): device.hostLeft(at: instant)
        case .wrote(let bytes, Self.messages, _): device.receive(bytes, at: instant)
        case .connected, .disconnected, .subscribed, .unsubscribed, .wrote: break
        }
    }

    public mutating func setNotificationLength(_ length: Int?) { device.notificationLength = length }
}
