public import BlueZ
public import FirmwareSim

/// A simulated device with a radio: what it offers to centrals, as data, and what it does about what they do.
///
/// Each of its emissions is a notification, of the characteristic that it names; one that names none goes nowhere.
/// bluetoothd cuts a notification to what a central's packets hold, so that a device makes them short enough itself.
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
    /// What centrals find. It does not change.
    var offered: PeripheralDescription { get }

    /// What a central did.
    mutating func take(_ event: CentralEvent, at instant: Duration)

    /// How many bytes a notification may have to reach the centrals whole; nil where that is not known. Told before each
    /// event.
    mutating func setNotificationLength(_ length: Int?)

    /// Whether not all of the last write arrived; a write that is answered is then answered by an error. Of devices without
    /// faults all does.
    var hasLostWrite: Bool { get }

    /// Whether it neither hears nor says anything at an instant; a read is then answered by an error.
    func isSilent(at instant: Duration) -> Bool

    /// The value of a characteristic that a central reads; nil for what was written or notified last.
    mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]?
}

extension SimulatedPeripheral {
    /// Nothing: most devices say what they say.
    public mutating func setNotificationLength(_ length: Int?) {}

    public var hasLostWrite: Bool { false }

    public func isSilent(at instant: Duration) -> Bool { false }

    public mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]? { nil }
}

/// What a central did.
public enum CentralEvent: Sendable, Hashable {
    /// One has come; others may be there.
    case connected
    /// One has gone; others may be there still.
    case disconnected
    /// The first one wants to be told of a characteristic.
    case subscribed(BluetoothUUID)
    /// No one does any more.
    case unsubscribed(BluetoothUUID)
    /// Bytes were written to a characteristic, by a central whose packets hold `mtu` bytes: a notification 3 less.
    case wrote([UInt8], to: BluetoothUUID, mtu: Int)
}
