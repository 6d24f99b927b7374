/// What is known of the LED board from what it said.
public struct LEDState: DeviceState, Hashable {
    /// The values that are known.
    public private(set) var values: [LEDEndpoint: LEDValue] = [:]

    /// Nothing is known.
    public init() {}

    public mutating func apply(_ message: LEDMessage) {
        if case .value(let endpoint, let value) = message { values[endpoint] = value }
    }

    public mutating func overhear(_ message: LEDMessage) { apply(message) }

    public mutating func becomeUncertain() { values = [:] }
}
