/// What makes a device safe, by family and carrier.
///
/// | family | serial port, USB, TCP, Unix socket, BLE as a stream of bytes | BLE, each packet a message |
/// | --- | --- | --- |
/// | pump | `\nOFF\n` | `\nOFF\n`: the UART behind such a module takes bytes |
/// | storm | none: it only measures | none |
/// | led | none: its light is off when it is written 0 | none |
/// | peer | none: its `OFF` is a message to a person | none: `\nOFF` would be shown as text |
/// | rescue | none: it only passes messages on | none |
public enum StopTable {
    /// One family's row.
    public struct Row: Sendable, Hashable {
        /// The family's name, as in `pump`.
        public let family: String
        /// What is written, in one write, over a stream of bytes and over packets; nil where the family has no stop.
        public let bytes: [UInt8]?
        /// Why there is none.
        public let reason: String?
    }

    /// The rows, one for each family.
    public static let rows = [
        Row(family: "pump", bytes: pump, reason: nil),
        Row(family: "storm", bytes: nil, reason: "a storm sensor only measures"),
        Row(family: "led", bytes: nil, reason: "an LED board has no emergency stop: 'led off' switches the light off"),
        Row(family: "peer", bytes: nil, reason: "a peer takes OFF as a message: 'toggle off' sends it"),
        Row(family: "rescue", bytes: nil, reason: "a rescue phone only passes messages on"),
    ]

    /// A bare line end first: a line that somebody else has begun ends there and is refused on its own, where it would
    /// have swallowed the command. It is a wrong command at the worst, or one that the OFF behind it undoes.
    static let pump = Array("\nOFF\n".utf8)
}
