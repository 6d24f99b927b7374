/// A kind of device: its commands, the meaning of its lines, and its state.
///
/// A family has no state and does no input or output: it translates commands into bytes, and lines into meanings. A
/// ``Session`` uses a family over a ``Link``. ``LEDFamily`` is a short example.
public protocol DeviceFamily: Sendable {
    /// A command to the device.
    associatedtype Command: Sendable
    /// The meaning of one line from the device.
    associatedtype Message: Sendable
    /// The reply to a command.
    associatedtype Reply: Sendable
    /// Matches the lines that answer one command.
    associatedtype Exchange: CommandExchange<Message, Reply>
    /// The state of the device, as far as it is known.
    associatedtype State: DeviceState<Message>

    /// The longest line from the device, in bytes. A longer line is delivered in pieces, which have ``LineEnding/cut``.
    static var lineLimit: Int { get }

    /// Returns the bytes of `command` on a link, with its line end. A stop is sent as ``StopRule/bytes`` instead.
    static func encode(_ command: Command) -> [UInt8]

    /// Returns the effect of `command` on the device. The effect decides whether the command is repeated if no answer
    /// comes.
    static func effect(of command: Command) -> CommandEffect

    /// Returns the meaning of a line.
    ///
    /// - Parameters:
    ///   - line: The line without its end.
    ///   - ending: The way in which the line ended.
    static func message(line: Span<UInt8>, ending: LineEnding) -> Message

    /// Whether a line is neither defined by the protocol nor text for people.
    static func isForeign(_ message: Message) -> Bool

    /// Whether the device reports by `message` that it has just started, and so has lost its state.
    static func isStart(_ message: Message) -> Bool

    /// Returns the notice, if `message` comes from a server that shares the device; nil if it comes from the device.
    static func relayNotice(by message: Message) -> RelayNotice?

    /// Returns the exchange that will match the lines that answer `command`.
    static func exchange(for command: Command) -> Exchange

    /// A query whose reply is never unsolicited: lines before the reply may be stale, lines after it are new. nil if
    /// the family has no such query.
    static var fence: Command? { get }

    /// Whether `command` is ``fence``.
    static func isFence(_ command: Command) -> Bool

    /// Whether `message` is the reply to ``fence``.
    static func isFenceReply(_ message: Message) -> Bool

    /// Bytes that turn a half-sent line into one that the device rejects, and end it. They are sent before a query or
    /// change if the device may have received the beginning of a line: see ``Link/mayBeMidLine``.
    static var lineSpoiler: [UInt8] { get }

    /// Bytes written before a change, unless ``lineSpoiler`` is. They end a line that another program has half sent;
    /// otherwise the change would become a part of that line.
    static var changePrefix: [UInt8] { get }

    /// The longest time that the device takes to read a command; zero if it reads at any time. After a command was
    /// given up, the next command (except a stop) waits until this time has passed since the sending, so that both
    /// commands together do not overflow the device's receive buffer.
    static var readingTime: Duration { get }

    /// The query for the state of the device; nil if there is none.
    static var statusQuery: Command? { get }

    /// Whether the caller still wants `command`. Called when the command gets its turn, and again just before it is
    /// sent, but not for the command of ``stop``. An unwanted command is not sent, and fails with `cancelled`.
    static func isWanted(_ command: Command) -> Bool

    /// Whether `command` precedes ordinary waiting commands. True, for example, for a query by which a caller checks
    /// that the device is safe.
    static func isEarly(_ command: Command) -> Bool

    /// The way to make the device safe; nil if no command of the family makes a device safe.
    static var stop: StopRule<Self>? { get }
}

extension DeviceFamily {
    /// The default is nil, for a family without notices of a server.
    public static func relayNotice(by message: Message) -> RelayNotice? { nil }

    /// The default is empty: nothing is sent before a command.
    public static var lineSpoiler: [UInt8] { [] }

    /// The default is empty: nothing is sent before a change.
    public static var changePrefix: [UInt8] { [] }

    /// The default is zero, for a family whose devices read at any time.
    public static var readingTime: Duration { .zero }

    /// The default is false, for a family without a ``fence``.
    public static func isFence(_ command: Command) -> Bool { false }

    /// The default is false, for a family without a ``fence``.
    public static func isFenceReply(_ message: Message) -> Bool { false }

    /// The default is true: every command is still wanted.
    public static func isWanted(_ command: Command) -> Bool { true }

    /// The default is false: commands keep their order of arrival.
    public static func isEarly(_ command: Command) -> Bool { false }

    /// The default is nil: most devices do nothing that must be stopped.
    public static var stop: StopRule<Self>? { nil }
}

/// The effect of a command on a device.
public enum CommandEffect: Sendable, Hashable {
    /// The command changes nothing: it may be sent again.
    case query
    /// The command changes the device: it is sent once, and never repeated automatically.
    case change
    /// The command makes the device safe: it is sent first and at once, and repeated until the device reports that it
    /// is safe, or the time is over.
    case stop
}

/// Recognizes the lines that answer one command.
public protocol CommandExchange<Message, Reply>: Sendable {
    /// The meaning of one line from the device.
    associatedtype Message
    /// The reply to the command.
    associatedtype Reply

    /// Examines a message from the device while the command is in flight.
    ///
    /// - Parameter message: The message, which may answer the command or not.
    /// - Returns: The relation of the message to the command.
    mutating func take(_ message: Message) -> ExchangeVerdict<Reply>
}

/// The relation of a line to a command in flight.
public enum ExchangeVerdict<Reply> {
    /// The line does not answer the command.
    case unrelated
    /// The line is a part of the reply, and further lines of the reply will follow.
    case partial
    /// The line completes the reply.
    case complete(Reply)
    /// The device refuses the command with the given code.
    case refused(String)
}

/// The state of a device, as far as its lines show it.
public protocol DeviceState<Message>: Sendable, Equatable {
    /// The meaning of one line from the device.
    associatedtype Message

    /// Creates a state in which nothing is known.
    init()

    /// Updates the state with the device's answer to a command of this session.
    mutating func apply(_ message: Message)

    /// Updates the state with a message that answers no command of this session: an unsolicited one, or an answer to
    /// another program.
    mutating func overhear(_ message: Message)

    /// Forgets every fact that may have changed. Called if it is unknown whether a command was carried out or the
    /// device was reset, and when the link ends.
    mutating func becomeUncertain()
}
