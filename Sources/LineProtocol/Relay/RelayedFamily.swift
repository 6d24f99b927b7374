/// A family whose lines a server relays between one device and several clients. Each client speaks the protocol as if
/// it had the device to itself.
public protocol RelayedFamily: DeviceFamily {
    /// Recognizes the device's answer to one line of a client.
    associatedtype LineExchange: CommandExchange<Message, Void>

    /// Returns the request in a line, as the device reads the line; nil if the line is empty.
    static func request(by line: [UInt8]) -> LineRequest<Self>?

    /// Whether a device sends this message only as a reply. The server sends such a message only to the client whose
    /// line it answers.
    static func isAnswer(_ message: Message) -> Bool

    /// The lines by which a device acknowledges the command of ``DeviceFamily/stop``, without line ends. The server
    /// sends them to the client once the device's status has confirmed the stop.
    static var stopAnswer: [String] { get }
}

/// The request in a line of a client.
public struct LineRequest<Family: RelayedFamily>: Sendable {
    /// The effect of the line on the device.
    public var effect: CommandEffect
    /// Recognizes the answer to the line.
    public var exchange: Family.LineExchange
    /// Whether the device answers the line. If not, the absence of an answer is no error.
    public var isAnswered: Bool

    /// Creates a request.
    public init(_ effect: CommandEffect, _ exchange: Family.LineExchange, isAnswered: Bool = true) {
        self.effect = effect
        self.exchange = exchange
        self.isAnswered = isAnswered
    }
}

/// A family for a server that shares a device: a command is the line of a client, and a reply contains the device's
/// lines unchanged, for the client.
///
/// ```swift
/// let session = try await Session<Relayed<PumpFamily>>.begin(over: link, clock: clock)
/// if let command = RelayedLine<PumpFamily>(Array("speed: 7".utf8)) {
///     print(try await session.perform(command).bytes)  // OK\r\nSPEED:7\r\n
/// }
/// ```
///
/// If the device refuses a command, ``SessionError/deviceCode`` is the whole line of the refusal.
public enum Relayed<Base: RelayedFamily>: DeviceFamily {
    public typealias Command = RelayedLine<Base>
    public typealias Message = RelayedMessage<Base>
    public typealias Reply = RelayedAnswer<Base>
    public typealias Exchange = RelayedExchange<Base>
    public typealias State = RelayedState<Base>

    public static var lineLimit: Int { Base.lineLimit }

    public static func encode(_ command: RelayedLine<Base>) -> [UInt8] { command.bytes + [.lineFeed] }

    public static func effect(of command: RelayedLine<Base>) -> CommandEffect { command.request.effect }

    public static func message(line: Span<UInt8>, ending: LineEnding) -> RelayedMessage<Base> {
        RelayedMessage(
            bytes: line.withUnsafeBufferPointer { Array($0) }, meaning: Base.message(line: line, ending: ending))
    }

    public static func isForeign(_ message: RelayedMessage<Base>) -> Bool { Base.isForeign(message.meaning) }

    public static func isStart(_ message: RelayedMessage<Base>) -> Bool { Base.isStart(message.meaning) }

    public static func relayNotice(by message: RelayedMessage<Base>) -> RelayNotice? {
        Base.relayNotice(by: message.meaning)
    }

    public static func exchange(for command: RelayedLine<Base>) -> RelayedExchange<Base> {
        RelayedExchange(command)
    }

    public static var fence: RelayedLine<Base>? { Base.fence.flatMap(RelayedLine.init) }

    public static func isFence(_ command: RelayedLine<Base>) -> Bool {
        Base.fence.map { Base.encode($0).dropLast().elementsEqual(command.bytes) } ?? false
    }

    public static func isFenceReply(_ message: RelayedMessage<Base>) -> Bool { Base.isFenceReply(message.meaning) }

    public static var lineSpoiler: [UInt8] { Base.lineSpoiler }

    public static var changePrefix: [UInt8] { Base.changePrefix }

    public static var readingTime: Duration { Base.readingTime }

    public static var statusQuery: RelayedLine<Base>? { Base.statusQuery.flatMap(RelayedLine.init) }

    public static func isWanted(_ command: RelayedLine<Base>) -> Bool { command.isWanted?() ?? true }

    public static func isEarly(_ command: RelayedLine<Base>) -> Bool {
        command.isEarly && command.request.effect == .query
    }

    public static var stop: StopRule<Self>? {
        guard let rule = Base.stop, let command = RelayedLine<Base>(rule.command) else { return nil }
        return StopRule(
            command, bytes: rule.bytes, reply: RelayedAnswer(lines: Base.stopAnswer),
            isAcknowledgement: { rule.isAcknowledgement($0.meaning) }, isUndone: { rule.isUndone($0.meaning) },
            unsafeState: { answer in
                guard let message = answer.last, let query = Base.statusQuery else { return "unknown" }
                var exchange = Base.exchange(for: query)
                guard case .complete(let reply) = exchange.take(message) else { return "unknown" }
                return rule.unsafeState(reply)
            })
    }
}
