internal import Transports

/// The pauses between attempts to reopen a link.
struct ReconnectionPauses {
    /// The longest pause between two attempts to reach a BLE device. Each attempt scans for the device.
    static let longestRadioInterval = Duration.seconds(8)

    private let grows: Bool
    private var interval = Reconnector.interval

    init(_ endpoint: Endpoint) { grows = endpoint.scheme == "ble" }

    /// Returns the next pause. For a BLE device the pause doubles each time, up to the longest; for other devices it is
    /// always ``Reconnector/interval``.
    mutating func next() -> Duration {
        defer { if grows { interval = min(interval * 2, Self.longestRadioInterval) } }
        return interval
    }
}
