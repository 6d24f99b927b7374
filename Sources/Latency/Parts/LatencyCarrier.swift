/// What lies between the host and a device, as far as that is known without measuring.
public struct LatencyCarrier: Sendable, Hashable {
    /// The kinds of carrier that times are read differently of.
    public enum Kind: String, Sendable, Hashable {
        /// A serial port with a UART at its other end.
        case port
        /// A pseudo-terminal: it has no line rate of its own, whatever it is set to.
        case terminal
        /// The device is inside this program.
        case simulation
        /// A server that has the device.
        case network
        /// Bluetooth LE.
        case radio
    }

    public var kind: Kind
    /// How long a byte takes on the line by the settings of the port, start and stop bits included; nil where there are none.
    public var byteTime: Duration?
    /// The adapter's latency timer, as the kernel tells it; nil where it does not.
    public var latencyTimer: Duration?
    /// Whether sending over BLE returns only once the device has confirmed it.
    public var confirmsWrites: Bool

    /// A carrier; what is left out is not known.
    public init(
        _ kind: Kind, byteTime: Duration? = nil, latencyTimer: Duration? = nil, confirmsWrites: Bool = false
    ) {
        (self.kind, self.byteTime) = (kind, byteTime)
        (self.latencyTimer, self.confirmsWrites) = (latencyTimer, confirmsWrites)
    }

    /// What may hold up bytes between the line and the host, besides the host itself.
    var deliverers: Set<LatencyPart.Cause> {
        switch kind {
        case .port: [.adapter]
        case .terminal, .simulation: []
        case .network: [.carrier, .adapter]
        case .radio: [.carrier]
        }
    }
}
