internal import Transports

/// The times between attempts to open a link again.
struct ReconnectionPauses {
    /// The longest time between two attempts to reach a BLE device, of which each scans for it.
    static let longestRadioInterval = Duration.seconds(8)

    private let grows: Bool
    private var interval = Reconnector.interval

    init(_ endpoint: Endpoint) { grows = endpoint.scheme == "ble" }

    /// The next pause: of a BLE device twice as long each time, for others ``Reconnector/interval``.
    mutating func next() -> Duration {
        defer { if grows { interval = min(interval * 2, Self.longestRadioInterval) } }
        return interval
    }
}
