/// What a storm sensor offers over BLE. On a serial port there is one line, which carries what ``backup`` does.
public enum StormCharacteristic: String, Sendable, Hashable, CaseIterable {
    /// Notifies of raw measurements, a row in each.
    case live = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E"
    /// Takes `GET_LOG`, and notifies of the log and of live rows, each behind its prefix.
    case backup = "BEB5483E-36E1-4688-B7F5-EA07361B26A8"
}
