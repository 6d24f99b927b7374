public import BlueZ

/// Remembers the device of each BLE name, so that another device with the same name is not mistaken for that device.
///
/// Many modules leave the factory with the same name: if the intended device is out of reach, another device with the
/// same name would be switched off instead. Names are compared without regard to letter case. A name that can't be
/// stored is not remembered.
public protocol BLENameMemory: Sendable {
    /// Returns the address of the device that `name` led to; nil if unknown.
    func address(of name: String) -> BluetoothAddress?

    /// Remembers the address of the device that `name` leads to. Called only for an address that the device keeps.
    func remember(_ address: BluetoothAddress, as name: String)
}
