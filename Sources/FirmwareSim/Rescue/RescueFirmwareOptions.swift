/// Which phone to be.
public struct RescueFirmwareOptions: Sendable, Hashable {
    /// What carries what the phone sends and receives.
    public enum Carrier: Sendable, Hashable {
        /// A serial line, at this rate.
        case line(LineRate)
        /// Notifications and writes, of which each message takes one or several. It sends while somebody listens only.
        case notifications
    }

    /// What carries what it sends. The rescue protocol: 115200 8N1 on a serial port.
    public var carrier: Carrier
    /// What its messages, its splits and its faults depend on.
    public var seed: UInt64
    /// How many messages it holds from the start. Each is sent once.
    public var messages: Int
    /// The time before each of them; zero for all at once.
    public var interval: Duration
    /// The most bytes that leave at once, as notifications do; nil for no bound but the line's own.
    public var split: Int?
    /// How many of a hundred messages are preceded by something malformed, 0 to 100.
    public var malformed: Int
    /// Whether it hands on what it receives.
    public var forwards: Bool

    /// A phone with 5 messages, one a second, that hands on what it receives, unless told otherwise.
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
