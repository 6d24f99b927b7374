/// A line of a client, as it goes to the device.
public struct RelayedLine<Base: RelayedFamily>: Sendable {
    /// The line, without its end.
    public let bytes: [UInt8]
    /// What it asks for.
    public let request: LineRequest<Base>
    /// Told each line of the answer as soon as it is heard and before anything behind it; not what refuses
    /// the command, which may turn out to be somebody else's.
    public var hear: (@Sendable (_ line: RelayedMessage<Base>) -> Void)?
    /// Whether it goes before others that wait, if it only asks.
    public var isEarly = false
    /// Whether who asked is still there; asked when its turn has come.
    public var isWanted: (@Sendable () -> Bool)?

    /// A line without its end; nil where the device ignores it.
    public init?(_ bytes: [UInt8]) {
        guard let request = Base.request(by: bytes) else { return nil }
        self.bytes = bytes
        self.request = request
    }

    /// The line of a command.
    init?(_ command: Base.Command) { self.init(Base.encode(command).dropLast()) }
}

/// A line of the device, and what it means.
public struct RelayedMessage<Base: RelayedFamily>: Sendable {
    /// The line as it came, without its end.
    public let bytes: [UInt8]
    /// What it means.
    public let meaning: Base.Message
}

/// What the device has answered to a line.
public struct RelayedAnswer<Base: RelayedFamily>: Sendable {
    /// All its lines, each ended by `\r\n`.
    public internal(set) var bytes: [UInt8] = []
    /// The last of them, where the device has said it.
    public internal(set) var last: Base.Message?

    init() {}

    /// What was not heard in these words, but comes to the same.
    init(lines: [String]) { for line in lines { append(Array(line.utf8)) } }

    mutating func append(_ line: [UInt8]) {
        bytes += line
        bytes += [.carriageReturn, .lineFeed]
    }
}

/// Follows the lines that answer one line of a client.
public struct RelayedExchange<Base: RelayedFamily>: CommandExchange {
    private var exchange: Base.LineExchange
    private let hear: (@Sendable (_ line: RelayedMessage<Base>) -> Void)?
    private var answer = RelayedAnswer<Base>()

    init(_ line: RelayedLine<Base>) {
        exchange = line.request.exchange
        // An acknowledged stop is told once the device's status has confirmed it.
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

/// What is known of a device that several clients share.
public struct RelayedState<Base: RelayedFamily>: DeviceState {
    /// The same as any session knows of such a device.
    public private(set) var base = Base.State()

    public init() {}

    public mutating func apply(_ message: RelayedMessage<Base>) { base.apply(message.meaning) }

    public mutating func overhear(_ message: RelayedMessage<Base>) { base.overhear(message.meaning) }

    public mutating func becomeUncertain() { base.becomeUncertain() }
}
