/// The path between the host and a device, as far as it is known without a measurement.
public struct LatencyCarrier: Sendable, Hashable {
    /// The kinds of path, by the way in which their times are interpreted.
    public enum Kind: String, Sendable, Hashable {
        /// A serial port with a UART at its other end.
        case port
        /// A pseudo-terminal. It has no line rate, whatever baud rate is set.
        case terminal
        /// A simulated device in this process.
        case simulation
        /// A server that holds the device.
        case network
        /// Bluetooth LE.
        case radio
    }

    /// The kind of path.
    public var kind: Kind
    /// The time for one byte by the port's settings, with start and stop bits; nil if the path has no such settings.
    public var byteTime: Duration?
    /// The adapter's latency timer, as reported by the kernel; nil if the kernel does not report it.
    public var latencyTimer: Duration?
    /// Whether sending over BLE returns only after the device has confirmed the write.
    public var confirmsWrites: Bool

    /// Creates a path. By default, the times are unknown, and sending over BLE waits for no confirmation.
    public init(
        _ kind: Kind, byteTime: Duration? = nil, latencyTimer: Duration? = nil, confirmsWrites: Bool = false
    ) {
        (self.kind, self.byteTime) = (kind, byteTime)
        (self.latencyTimer, self.confirmsWrites) = (latencyTimer, confirmsWrites)
    }

    /// The causes that may delay bytes between the line and the host, apart from the host itself.
    var deliverers: Set<LatencyPart.Cause> {
        switch kind {
        case .port: [.adapter]
        case .terminal, .simulation: []
        case .network: [.carrier, .adapter]
        case .radio: [.carrier]
        }
    }
}
