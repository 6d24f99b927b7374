/// The options of a simulated phone.
public struct RescueFirmwareOptions: Sendable, Hashable {
    /// The carrier of the phone's messages.
    public enum Carrier: Sendable, Hashable {
        /// A serial line with this rate.
        case line(LineRate)
        /// BLE notifications and writes, one or several for each message. The phone sends only while somebody listens.
        case notifications
    }

    /// The carrier of the phone's messages. The rescue protocol: 115200 8N1 on a serial port.
    public var carrier: Carrier
    /// The seed of the phone's messages, splits and faults.
    public var seed: UInt64
    /// The number of messages that the phone has from the start. Each is sent once.
    public var messages: Int
    /// The time before each message that the phone has from the start; zero for all at once.
    public var interval: Duration
    /// The most bytes that leave at once; nil if only the carrier limits them.
    public var split: Int?
    /// The percentage of messages that are preceded by something malformed, 0 to 100.
    public var malformed: Int
    /// Whether the phone forwards received messages.
    public var forwards: Bool

    /// Creates options. By default, the phone has 5 messages, sends one a second, and forwards received messages.
    public init(
        carrier: Carrier = .line(.baud(115_200)), seed: UInt64 = 1, messages: Int = 5, interval: Duration = .seconds(1),
        split: Int? = nil, malformed: Int = 0, forwards: Bool = true
    ) {
        self.carrier = carrier
        self.seed = seed
        self.messages = messages
        self.interval = interval
        self.split = split
        self.malformed = malformed
        self.forwards = forwards
    }
}
