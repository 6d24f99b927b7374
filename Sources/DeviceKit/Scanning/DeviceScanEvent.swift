public import BlueZ

/// What a ``DeviceScan`` tells.
public enum DeviceScanEvent: Sendable, Hashable {
    /// The adapter scans; again where it was interrupted.
    case scanning(isAgain: Bool)
    /// There is news of a device; of one that is lost its last state. It is notable unless only the signal strength has
    /// changed.
    case device(DeviceChange, ScannedDevice, isNotable: Bool)
    /// The adapter does not scan for now; all devices were told as lost.
    case interrupted(BLEError)
}

/// What can happen to a device that is scanned for.
public enum DeviceChange: String, Sendable, Hashable {
    /// It has come into sight.
    case found
    /// Something about it has changed.
    case changed
    /// It was not heard for a while, or bluetoothd has gone.
    case lost
}
