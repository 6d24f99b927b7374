public import LineProtocol

/// A command that a host can send to the devices of a family.
public struct FamilyCommand: Sendable, Hashable {
    /// The name of the command for users of a program: `speed`.
    public var name: String
    /// The line to send, without its end. `{NAME}` stands for the parameter of that name.
    public var line: String
    /// The effect of the command, in one sentence.
    public var summary: String
    /// The kind of effect, which decides whether the command may be sent again.
    public var effect: CommandEffect
    /// The parameters, in the order of the line.
    public var parameters: [Parameter]
    /// A warning to show before the command is sent; nil if the command can do no harm.
    public var danger: String?
    /// Whether the answer contains the device's state.
    public var tellsState: Bool
    /// The values of the first field in ``Family/state`` with which a device carries out the command; nil if a device
    /// always does.
    public var states: [String]?

    /// Creates a command.
    public init(
        _ name: String, sends line: String, _ summary: String, effect: CommandEffect, parameters: [Parameter] = [],
        danger: String? = nil, tellsState: Bool = false, in states: [String]? = nil
    ) {
        self.name = name
        self.line = line
        self.summary = summary
        self.effect = effect
        self.parameters = parameters
        self.danger = danger
        self.tellsState = tellsState
        self.states = states
    }

    /// A parameter of a command.
    public struct Parameter: Sendable, Hashable {
        /// The name of the parameter, as in the line.
        public var name: String
        /// A short description.
        public var summary: String
        /// The allowed values.
        public var value: ValueRange
        /// The unit for people; nil if there is none.
        public var unit: String?

        /// Creates a parameter.
        public init(_ name: String, _ summary: String, _ value: ValueRange, unit: String? = nil) {
            self.name = name
            self.summary = summary
            self.value = value
            self.unit = unit
        }
    }
}

/// The allowed values of a parameter or a field.
public enum ValueRange: Sendable, Hashable {
    /// An integer in the range.
    case integer(ClosedRange<Int>)
    /// A number in the range.
    case number(ClosedRange<Double>)
    /// `true` or `false`.
    case boolean
    /// A word from the list.
    case choice([String])
    /// A text with at most this many bytes in UTF-8; nil for no limit.
    case text(maximumByteCount: Int?)

    /// Whether `text` is an allowed value.
    public func accepts(_ text: String) -> Bool {
        switch self {
        case .integer(let range): Int(text).map(range.contains) ?? false
        case .number(let range): Double(text).map(range.contains) ?? false
        case .boolean: text == "true" || text == "false"
        case .choice(let words): words.contains(text)
        case .text(let limit): text.utf8.count <= limit ?? .max
        }
    }
}

extension ValueRange: CustomStringConvertible {
    /// The allowed values for people: `0 to 255`, `true or false`.
    public var description: String {
        switch self {
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "\(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
        case .boolean: "true or false"
        case .choice(let words):
            words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or \(words.last ?? "")"
        case .text(let limit): "text" + (limit.map { " of at most \($0) bytes" } ?? "")
        }
    }

    private static func plain(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
}
