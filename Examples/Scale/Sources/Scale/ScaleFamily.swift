public import LineProtocol

/// The scale's protocol. Each line ends with a line feed.
///
/// | the host sends | the scale replies |
/// | --- | --- |
/// | `WEIGH` | `WEIGHT:123.4`, in grams, or `ERROR:OVERLOAD` |
/// | `TARE` | `TARED`: the current load counts as zero from now on |
///
/// To any other line the scale replies `ERROR:UNKNOWN`. When the load comes to exceed the capacity, the scale sends an
/// unsolicited `OVERLOAD`.
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

    /// The scale sends no text for people, so every line outside the protocol is foreign.
    public static func isForeign(_ message: ScaleMessage) -> Bool {
        if case .unknown = message { true } else { false }
    }

    /// The scale does not report that it has started.
    public static func isStart(_ message: ScaleMessage) -> Bool { false }

    public static func exchange(for command: ScaleCommand) -> ScaleExchange { ScaleExchange(command: command) }

    /// The scale reports a weight only in reply to `WEIGH`, so that lines before this reply are known to be stale.
    public static var fence: ScaleCommand? { .weigh }

    public static func isFence(_ command: ScaleCommand) -> Bool { command == .weigh }

    /// An overloaded scale replies to `WEIGH` with an error.
    public static func isFenceReply(_ message: ScaleMessage) -> Bool {
        switch message {
        case .weight, .error: true
        case .tared, .overload, .unknown: false
        }
    }

    public static var statusQuery: ScaleCommand? { .weigh }
}

/// A command of a scale.
public enum ScaleCommand: String, Sendable, CaseIterable {
    /// Asks for the weight of the load.
    case weigh = "WEIGH"
    /// Sets the current load as the zero point.
    case tare = "TARE"
}

/// A parsed line of a scale.
public enum ScaleMessage: Sendable, Hashable {
    /// `WEIGHT:123.4`, in grams.
    case weight(Double)
    /// `TARED`.
    case tared
    /// `OVERLOAD`, unsolicited: the load exceeds the scale's capacity.
    case overload
    /// `ERROR:…`: the text after the colon.
    case error(String)
    /// A line that is not part of the protocol.
    case unknown([UInt8])

    /// Parses `line`.
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

/// The result of a command.
public enum ScaleReply: Sendable, Hashable {
    /// The weight in grams.
    case weight(Double)
    /// The current load counts as zero.
    case tared
}

/// Matches the replies to one command.
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

/// The known state of a scale.
public struct ScaleState: DeviceState, Hashable {
    /// The weight in grams; nil if unknown.
    public private(set) var grams: Double?
    /// Whether the load exceeds the scale's capacity; nil if unknown.
    public private(set) var isOverloaded: Bool?

    public init() {}

    public mutating func apply(_ message: ScaleMessage) {
        switch message {
        case .weight(let grams): (self.grams, isOverloaded) = (grams, false)
        case .overload, .error("OVERLOAD"): (grams, isOverloaded) = (nil, true)
        // The weight counts from another zero now.
        case .tared: grams = nil
        case .error, .unknown: break
        }
    }

    /// A reply to another program shows the state of the scale as well.
    public mutating func overhear(_ message: ScaleMessage) { apply(message) }

    public mutating func becomeUncertain() { self = ScaleState() }
}

/// A session with a scale.
public typealias ScaleSession = Session<ScaleFamily>

extension Session where Family == ScaleFamily {
    /// Asks for the weight of the load, in grams.
    ///
    /// - Throws: `refused` with the device's code `OVERLOAD`, and the errors of ``Session/perform(_:timeout:)``.
    public nonisolated func weigh() async throws(SessionError) -> Double {
        guard case .weight(let grams) = try await perform(.weigh) else {
            preconditionFailure("WEIGH was completed by something else")
        }
        return grams
    }

    /// Sets the current load as the zero point.
    public nonisolated func tare() async throws(SessionError) { _ = try await perform(.tare) }
}
