/// What a host can ask of the LED board.
public enum LEDCommand: Sendable, Hashable {
    /// Asks for a value.
    case read(LEDEndpoint)
    /// Sets a value.
    case write(LEDEndpoint, LEDValue)

    /// The command as it is written on a line, without its end.
    public var text: String {
        switch self {
        case .read(let endpoint): endpoint.lineName
        case .write(let endpoint, let value): "\(endpoint.lineName):\(value.text)"
        }
    }
}

/// What one line of the LED board means.
public enum LEDMessage: Sendable, Hashable {
    /// `LED:1`: a value, asked for or told unasked.
    case value(LEDEndpoint, LEDValue)
    /// A line that is nothing of the protocol, as it came.
    case unknown([UInt8])

    /// What `line` means.
    public init(line: Span<UInt8>, ending: LineEnding = .lineFeed) {
        let bytes = line.withUnsafeBufferPointer { Array($0) }
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ending != .cut, parts.count == 2,
            let endpoint = LEDEndpoint.all.first(where: { parts[0].elementsEqual($0.lineName.utf8) }),
            let value = endpoint.kind.value(text: String(decoding: parts[1], as: UTF8.self))
        else {
            self = .unknown(bytes)
            return
        }
        self = .value(endpoint, value)
    }
}

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

/// Follows the line that answers one command.
public struct LEDExchange: CommandExchange {
    private let command: LEDCommand

    /// The exchange that `command` opens.
    public init(_ command: LEDCommand) { self.command = command }

    public mutating func take(_ message: LEDMessage) -> ExchangeVerdict<LEDValue> {
        switch (message, command) {
        case (.value(let endpoint, let value), .read(let asked)) where endpoint == asked: .complete(value)
        case (.value(let endpoint, let value), .write(let set, let wanted)) where endpoint == set && value == wanted:
            .complete(value)
        default: .unrelated
        }
    }
}

/// The LED board, by its line protocol.
public enum LEDFamily: DeviceFamily {
    public typealias Command = LEDCommand
    public typealias Message = LEDMessage
    public typealias Reply = LEDValue
    public typealias Exchange = LEDExchange
    public typealias State = LEDState

    /// Far more than any line of the protocol, for what an ESP32 prints while it boots.
    public static let lineLimit = 256

    public static func encode(_ command: LEDCommand) -> [UInt8] { Array(command.text.utf8) + [.lineFeed] }

    public static func effect(of command: LEDCommand) -> CommandEffect {
        switch command {
        case .read: .query
        case .write: .change
        }
    }

    public static func message(line: Span<UInt8>, ending: LineEnding) -> LEDMessage {
        LEDMessage(line: line, ending: ending)
    }

    public static func isForeign(_ message: LEDMessage) -> Bool {
        if case .unknown = message { true } else { false }
    }

    /// Nothing that it says tells so.
    public static func isStart(_ message: LEDMessage) -> Bool { false }

    public static func exchange(for command: LEDCommand) -> LEDExchange { LEDExchange(command) }

    /// None: a value may be told unasked.
    public static var fence: LEDCommand? { nil }

    public static var statusQuery: LEDCommand? { .read(.led) }
}
