public import LineProtocol

/// The scale's protocol. Each line ends with a line feed.
///
/// | the host says | the scale answers |
/// | --- | --- |
/// | `WEIGH` | `WEIGHT:123.4`, in grams, or `ERROR:OVERLOAD` |
/// | `TARE` | `TARED`: what lies on it now weighs nothing |
///
/// Unasked it says `OVERLOAD` when more is put on it than it can bear.
public enum ScaleFamily: DeviceFamily {
    public typealias Command = ScaleCommand
    public typealias Message = ScaleMessage
    public typealias Reply = ScaleReply
    public typealias Exchange = ScaleExchange
    public typealias State = ScaleState

    public static let lineLimit = 64

    public static func encode(_ command: ScaleCommand) -> [UInt8] { Array("\(command.rawValue)\n".utf8) }

    public static func effect(of command: ScaleCommand) -> CommandEffect {
        switch command {
        case .weigh: .query
        case .tare: .change
        }
    }

    public static func message(line: Span<UInt8>, ending: LineEnding) -> ScaleMessage {
        ScaleMessage(line: line, ending: ending)
    }

    public static func isForeign(_ message: ScaleMessage) -> Bool {
        if case .unknown = message { true } else { false }
    }

    public static func isStart(_ message: ScaleMessage) -> Bool { false }

    public static func exchange(for command: ScaleCommand) -> ScaleExchange { ScaleExchange(command: command) }

    /// A weight is told only when it is asked for: what comes before it is older than the question.
    public static var fence: ScaleCommand? { .weigh }

    public static func isFence(_ command: ScaleCommand) -> Bool { command == .weigh }

    public static func isFenceReply(_ message: ScaleMessage) -> Bool {
        switch message {
        case .weight, .error: true
        case .tared, .overload, .unknown: false
        }
    }

    public static var statusQuery: ScaleCommand? { .weigh }
}

/// What a host can ask of a scale.
public enum ScaleCommand: String, Sendable, CaseIterable {
    /// For the weight of what lies on it.
    case weigh = "WEIGH"
    /// To count what lies on it now as nothing.
    case tare = "TARE"
}

/// What one line of a scale means.
public enum ScaleMessage: Sendable, Hashable {
    /// `WEIGHT:123.4`, in grams.
    case weight(Double)
    /// `TARED`.
    case tared
    /// `OVERLOAD`, unasked: there is more on it than it can bear.
    case overload
    /// `ERROR:…`
    case error(String)
    /// A line that is nothing of the protocol.
    case unknown([UInt8])

    /// What `line` means.
    public init(line: Span<UInt8>, ending: LineEnding) {
        let bytes = line.withUnsafeBufferPointer { Array($0) }
        let parts = String(decoding: bytes, as: UTF8.self).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        self =
            switch (parts.first, parts.count) {
            case _ where ending == .cut: .unknown(bytes)
            case ("WEIGHT", 2): Double(parts[1]).map(ScaleMessage.weight) ?? .unknown(bytes)
            case ("ERROR", 2): .error(String(parts[1]))
            case ("TARED", 1): .tared
            case ("OVERLOAD", 1): .overload
            default: .unknown(bytes)
            }
    }
}

/// What a command of a scale brings back.
public enum ScaleReply: Sendable, Hashable {
    /// The weight in grams.
    case weight(Double)
    /// What lies on it counts as nothing.
    case tared
}

/// Follows the lines that answer one command.
public struct ScaleExchange: CommandExchange {
    let command: ScaleCommand

    public mutating func take(_ message: ScaleMessage) -> ExchangeVerdict<ScaleReply> {
        switch (message, command) {
        case (.weight(let grams), .weigh): .complete(.weight(grams))
        case (.tared, .tare): .complete(.tared)
        case (.error(let code), _): .refused(code)
        default: .unrelated
        }
    }
}

/// What is known of a scale.
public struct ScaleState: DeviceState, Hashable {
    /// The weight in grams; nil where it is not known.
    public private(set) var grams: Double?
    /// Whether there is more on it than it can bear; nil where that is not known.
    public private(set) var isOverloaded: Bool?

    public init() {}

    public mutating func apply(_ message: ScaleMessage) {
        switch message {
        case .weight(let grams): (self.grams, isOverloaded) = (grams, false)
        case .overload, .error("OVERLOAD"): (grams, isOverloaded) = (nil, true)
        case .tared: grams = nil
        case .error, .unknown: break
        }
    }

    public mutating func overhear(_ message: ScaleMessage) { apply(message) }

    public mutating func becomeUncertain() { self = ScaleState() }
}

/// A session with a scale.
public typealias ScaleSession = Session<ScaleFamily>

extension Session where Family == ScaleFamily {
    /// The weight of what lies on the scale, in grams.
    ///
    /// - Throws: `refused` with the device's code `OVERLOAD`, and what ``Session/perform(_:timeout:)`` throws.
    public nonisolated func weigh() async throws(SessionError) -> Double {
        guard case .weight(let grams) = try await perform(.weigh) else {
            preconditionFailure("WEIGH was completed by something else")
        }
        return grams
    }

    /// Counts what lies on the scale now as nothing.
    public nonisolated func tare() async throws(SessionError) { _ = try await perform(.tare) }
}
