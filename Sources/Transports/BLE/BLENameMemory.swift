public import BlueZ

/// Keeps which device each BLE name led to, so that another device of that name is not taken for it.
///
/// Many modules leave the factory with one name: once the device that was meant is out of reach, another that has its name
/// would be switched off in its place. Names are the same in any letter case. Neither call may fail or wait: what can't be
/// kept is not remembered.
public protocol BLENameMemory: Sendable {
    /// The address of the device that `name` led to; nil where that is not known.
    func address(of name: String) -> BluetoothAddress?

    /// From now on `name` leads to the device at `address`. Called only for an address that the device keeps.
    func remember(_ address: BluetoothAddress, as name: String)
}
