public import BlueZ

/// An event of a ``DeviceScan``.
public enum DeviceScanEvent: Sendable, Hashable {
    /// The adapter has started to scan; `isAgain` is true after an interruption.
    case scanning(isAgain: Bool)
    /// A device was found, has changed or is lost. A lost device is reported with its last state. `isNotable` is false
    /// if only the signal strength has changed.
    case device(DeviceChange, ScannedDevice, isNotable: Bool)
    /// The adapter has stopped scanning. All devices were reported as lost before.
    case interrupted(BLEError)
}

/// A change of a scanned device.
public enum DeviceChange: String, Sendable, Hashable {
    /// The device has appeared.
    case found
    /// A property of the device has changed.
    case changed
    /// The device was not heard for a while, no longer matches the scan, or the scan was interrupted.
    case lost
}
