/// A kind of device: its commands, what its lines mean, and what is known of its state.
///
/// A family is pure: bytes to meaning and back. A ``Session`` brings it and a ``Link`` together.
public protocol DeviceFamily: Sendable {
    /// What a host can ask.
    associatedtype Command: Sendable
    /// What one line of the device means.
    associatedtype Message: Sendable
    /// What a command brings back.
    associatedtype Reply: Sendable
    /// Follows the lines that answer one command.
    associatedtype Exchange: CommandExchange<Message, Reply>
    /// What is known of the device.
    associatedtype State: DeviceState<Message>

    /// The longest line in bytes that the device may say.
    static var lineLimit: Int { get }

    /// The bytes of `command` on a link, with its line end.
    static func encode(_ command: Command) -> [UInt8]

    /// What `command` does to the device, which decides what may be done when no answer comes.
    static func effect(of command: Command) -> CommandEffect

    /// What a line means.
    static func message(line: Span<UInt8>, ending: LineEnding) -> Message

    /// Whether a line is nothing of the protocol, and not text for people either.
    static func isForeign(_ message: Message) -> Bool

    /// Whether the device says by `message` that it has just started, and has forgotten its state.
    static func isStart(_ message: Message) -> Bool

    /// What a server that shares the device, and not the device itself, says by `message`.
    static func relayNotice(by message: Message) -> RelayNotice?

    /// The beginning of the exchange that `command` opens.
    static func exchange(for command: Command) -> Exchange

    /// A query whose answer the device never gives unasked: all that is heard before the answer is older than the query.
    static var fence: Command? { get }

    /// Whether a command is ``fence``.
    static func isFence(_ command: Command) -> Bool

    /// Whether a message answers ``fence``.
    static func isFenceReply(_ message: Message) -> Bool

    /// Bytes that turn a half-sent line into one that the device rejects, and end it.
    static var lineSpoiler: [UInt8] { get }

    /// Bytes written before a change. They end a line that another program has half sent, which would swallow the change.
    static var changePrefix: [UInt8] { get }

    /// How long a device may take to read a command; zero where it reads at any time. After a command that was given up
    /// the next one waits this long, so that both together do not overflow the device's receive buffer.
    static var readingTime: Duration { get }

    /// The query for the state of the device; nil where there is none.
    static var statusQuery: Command? { get }

    /// Whether who asked for `command` still wants it; asked when its turn has come, and not for ``stop``.
    static func isWanted(_ command: Command) -> Bool

    /// Whether `command` goes before others that wait, as a question does by which somebody makes sure that the device is safe.
    static func isEarly(_ command: Command) -> Bool

    /// How a device is made safe; nil where the family has no command for that.
    static var stop: StopRule<Self>? { get }
}

extension DeviceFamily {
    /// Nothing: for a family in whose protocol a server has no words of its own.
    public static func relayNotice(by message: Message) -> RelayNotice? { nil }

    /// Nothing: for a family whose devices take no lines.
    public static var lineSpoiler: [UInt8] { [] }

    /// Nothing: for a family whose devices take no empty lines.
    public static var changePrefix: [UInt8] { [] }

    /// None: for a family whose devices read at any time.
    public static var readingTime: Duration { .zero }

    /// No: for a family without a ``fence``.
    public static func isFence(_ command: Command) -> Bool { false }

    /// No: for a family without a ``fence``.
    public static func isFenceReply(_ message: Message) -> Bool { false }

    /// Yes.
    public static func isWanted(_ command: Command) -> Bool { true }

    /// No: they go in the order in which they came.
    public static func isEarly(_ command: Command) -> Bool { false }

    /// None: most devices do nothing that must be stopped.
    public static var stop: StopRule<Self>? { nil }
}

/// What a command does to a device.
public enum CommandEffect: Sendable, Hashable {
    /// It only asks: it may be sent again.
    case query
    /// It changes the device: sent once, and never again by itself.
    case change
    /// It makes the device safe: it is sent first and at once, and repeated until the device says that it is safe.
    case stop
}

/// Follows the lines that answer one command, by what the command expects.
public protocol CommandExchange<Message, Reply>: Sendable {
    associatedtype Message
    associatedtype Reply

    /// Looks at what the device said while the command was in flight.
    mutating func take(_ message: Message) -> ExchangeVerdict<Reply>
}

/// What a line is to a command in flight.
public enum ExchangeVerdict<Reply> {
    /// It belongs to something else.
    case unrelated
    /// It is part of the reply, and more is to come.
    case partial
    /// It completes the reply.
    case complete(Reply)
    /// The device refuses the command, with this code.
    case refused(String)
}

/// What is known of a device from what it said.
public protocol DeviceState<Message>: Sendable, Equatable {
    associatedtype Message

    /// Nothing is known.
    init()

    /// Takes in what the device answered to a command of this session.
    mutating func apply(_ message: Message)

    /// Takes in what the device said otherwise: unasked, or to somebody else.
    mutating func overhear(_ message: Message)

    /// A command may have been carried out or not, or the device may have been reset: forget what that puts in doubt.
    mutating func becomeUncertain()
}
