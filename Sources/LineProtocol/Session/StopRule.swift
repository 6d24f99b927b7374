/// How a device of a family is made safe, whatever else goes on.
///
/// A row of ``StopTable`` with what the family knows of its answers.
public struct StopRule<Family: DeviceFamily>: Sendable {
    /// The command.
    public let command: Family.Command
    /// What is written for it, in one write.
    public let bytes: [UInt8]
    /// What completes it: the device says so, or its status does.
    public let reply: Family.Reply
    /// Whether a message acknowledges it.
    public let isAcknowledgement: @Sendable (Family.Message) -> Bool
    /// Whether a message says that somebody has undone it: what acknowledges it behind that is of the time before.
    public let isUndone: @Sendable (Family.Message) -> Bool
    /// Whether a reply to ``DeviceFamily/statusQuery`` says that the device is safe.
    public let isSafe: @Sendable (Family.Reply) -> Bool

    /// A rule.
    public init(
        _ command: Family.Command, bytes: [UInt8], reply: Family.Reply,
        isAcknowledgement: @escaping @Sendable (Family.Message) -> Bool,
        isUndone: @escaping @Sendable (Family.Message) -> Bool,
        isSafe: @escaping @Sendable (Family.Reply) -> Bool
    ) {
        self.command = command
        self.bytes = bytes
        self.reply = reply
        self.isAcknowledgement = isAcknowledgement
        self.isUndone = isUndone
        self.isSafe = isSafe
    }
}

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
