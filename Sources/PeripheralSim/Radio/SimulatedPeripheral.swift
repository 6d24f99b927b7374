public import BlueZ
public import FirmwareSim

/// A simulated device with a radio: its offer to centrals, as data, and its reactions to the centrals' events.
///
/// Each of the device's emissions is a notification of the characteristic that the emission names. An emission without
/// a characteristic goes to the line of the device, if there is one. bluetoothd cuts a notification to the size of the
/// central's packets, so the device must make its notifications short enough.
///
/// ```swift
/// struct Lamp: SimulatedPeripheral {
///     let offered = PeripheralDescription(
///         name: "Lamp", services: [LocalService("FFF0", [LocalCharacteristic("FFF1", [.read, .write], value: [0])])])
///     mutating func take(_ event: CentralEvent, at instant: Duration) {
///         if case .wrote(let bytes, "FFF1", _) = event { isLit = bytes != [0] }
///     }
///     …
/// }
/// ```
public protocol SimulatedPeripheral: SimulatedDevice {
    /// The name and the services that centrals find. The server reads them once, when it offers the device.
    var offered: PeripheralDescription { get }

    /// Handles an event of a central.
    mutating func take(_ event: CentralEvent, at instant: Duration)

    /// Sets the most bytes of a notification that reach the centrals whole; nil if unknown. The server calls this
    /// function before each ``take(_:at:)``.
    mutating func setNotificationLength(_ length: Int?)

    /// Whether a fault has lost the last write, or a part of it. If so, the server answers a write request with an
    /// error. A device without faults loses nothing.
    var hasLostWrite: Bool { get }

    /// Returns whether the device neither receives nor sends at an instant. If so, the server answers a read with an
    /// error.
    func isSilent(at instant: Duration) -> Bool

    /// Returns the value of a characteristic that a central reads; nil for the value that was last written or notified.
    mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]?
}

extension SimulatedPeripheral {
    /// Does nothing: most devices ignore the limit.
    public mutating func setNotificationLength(_ length: Int?) {}

    public var hasLostWrite: Bool { false }

    public func isSilent(at instant: Duration) -> Bool { false }

    public mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]? { nil }
}

/// An event of a central.
public enum CentralEvent: Sendable, Hashable {
    /// A central has connected. Other centrals may be connected already.
    case connected
    /// A central has disconnected. Other centrals may still be connected.
    case disconnected
    /// The first central has subscribed to a characteristic.
    case subscribed(BluetoothUUID)
    /// The last central has unsubscribed from a characteristic.
    case unsubscribed(BluetoothUUID)
    /// A central has written bytes to a characteristic. The packets of the central hold `mtu` bytes; a notification to
    /// the central holds 3 bytes less.
    case wrote([UInt8], to: BluetoothUUID, mtu: Int)
}
