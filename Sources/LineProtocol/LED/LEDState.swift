/// The state of the LED board, as far as its lines show it.
public struct LEDState: DeviceState, Hashable {
    /// The values that are known, by endpoint.
    public private(set) var values: [LEDEndpoint: LEDValue] = [:]

    /// Creates a state in which no value is known.
    public init() {}

    public mutating func apply(_ message: LEDMessage) {
        if case .value(let endpoint, let value) = message { values[endpoint] = value }
        if LEDFamily.isStart(message) { becomeUncertain() }
    }

    public mutating func overhear(_ message: LEDMessage) { apply(message) }

    public mutating func becomeUncertain() { values = [:] }
}
