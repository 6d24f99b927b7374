/// The BLE characteristics of a storm sensor. A serial port carries the same data as ``backup``.
public enum StormCharacteristic: String, Sendable, Hashable, CaseIterable {
    /// Notifies of raw measurements, one row in each notification.
    case live = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E"
    /// Accepts `GET_LOG`, and notifies of the log and of live rows, each with its prefix.
    case backup = "BEB5483E-36E1-4688-B7F5-EA07361B26A8"
}
