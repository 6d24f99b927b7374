/// A client's line for the device.
public struct RelayedLine<Base: RelayedFamily>: Sendable {
    /// The line, without its end.
    public let bytes: [UInt8]
    /// The request in the line.
    public let request: LineRequest<Base>
    /// Called with each line of the answer at once, before later lines are processed. Not called with a refusal, which
    /// may turn out to answer another line, nor with the answer to a stop.
    public var hear: (@Sendable (_ line: RelayedMessage<Base>) -> Void)?
    /// Whether the line precedes ordinary waiting lines. Only a query can do so.
    public var isEarly = false
    /// Returns whether the client still wants the line. Called when a line other than a stop gets its turn, and again
    /// just before it is sent; nil means that the line is always wanted.
    public var isWanted: (@Sendable () -> Bool)?

    /// Creates a line from bytes without a line end; nil if the line is empty.
    public init?(_ bytes: [UInt8]) {
        guard let request = Base.request(by: bytes) else { return nil }
        self.bytes = bytes
        self.request = request
    }

    /// Creates the line of a command.
    init?(_ command: Base.Command) { self.init(Base.encode(command).dropLast()) }
}

/// A line from the device, and its meaning.
public struct RelayedMessage<Base: RelayedFamily>: Sendable {
    /// The line, unchanged and without its end.
    public let bytes: [UInt8]
    /// The meaning of the line.
    public let meaning: Base.Message
}

/// The device's answer to a line.
public struct RelayedAnswer<Base: RelayedFamily>: Sendable {
    /// All lines of the answer, each ended by `\r\n`.
    public internal(set) var bytes: [UInt8] = []
    /// The meaning of the last line, if it came from the device; nil otherwise.
    public internal(set) var last: Base.Message?

    init() {}

    /// Creates an answer from lines that stand for lines of the device. ``last`` is nil.
    init(lines: [String]) { for line in lines { append(Array(line.utf8)) } }

    mutating func append(_ line: [UInt8]) {
        bytes += line
        bytes += [.carriageReturn, .lineFeed]
    }
}

/// Recognizes the lines that answer one line of a client.
public struct RelayedExchange<Base: RelayedFamily>: CommandExchange {
    private var exchange: Base.LineExchange
    private let hear: (@Sendable (_ line: RelayedMessage<Base>) -> Void)?
    private var answer = RelayedAnswer<Base>()

    init(_ line: RelayedLine<Base>) {
        exchange = line.request.exchange
        // The answer to a stop is passed on after the device's status has confirmed the stop.
        hear = line.request.effect == .stop ? nil : line.hear
    }

    public mutating func take(_ message: RelayedMessage<Base>) -> ExchangeVerdict<RelayedAnswer<Base>> {
        let verdict = exchange.take(message.meaning)
        if case .unrelated = verdict { return .unrelated }
        answer.append(message.bytes)
        answer.last = message.meaning
        switch verdict {
        case .unrelated, .partial:
            hear?(message)
            return .partial
        case .complete:
            hear?(message)
            return .complete(answer)
        case .refused: return .refused(String(decoding: message.bytes, as: UTF8.self))
        }
    }
}

/// The state of a device that several clients share.
public struct RelayedState<Base: RelayedFamily>: DeviceState {
    /// The state that a session of the family `Base` would have.
    public private(set) var base = Base.State()

    /// Creates a state in which nothing is known.
    public init() {}

    public mutating func apply(_ message: RelayedMessage<Base>) { base.apply(message.meaning) }

    public mutating func overhear(_ message: RelayedMessage<Base>) { base.overhear(message.meaning) }

    public mutating func becomeUncertain() { base.becomeUncertain() }
}
