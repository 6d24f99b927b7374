public import LineProtocol

/// Something that a host can ask of the devices of a family.
public struct FamilyCommand: Sendable, Hashable {
    /// Its name, as a program offers it: `speed`.
    public var name: String
    /// The line that is sent, without its end; `{NAME}` stands for the parameter of that name.
    public var line: String
    /// What it does, in a sentence.
    public var summary: String
    /// What it does to the device, which decides whether it may be sent again.
    public var effect: CommandEffect
    /// What is to be given with it, in the order of the line.
    public var parameters: [Parameter]
    /// Why a person should think before it is sent; nil where nothing can come to harm.
    public var danger: String?
    /// Whether its answer tells the device's state.
    public var tellsState: Bool

    /// A command.
    public init(
        _ name: String, sends line: String, _ summary: String, effect: CommandEffect, parameters: [Parameter] = [],
        danger: String? = nil, tellsState: Bool = false
    ) {
        self.name = name
        self.line = line
        self.summary = summary
        self.effect = effect
        self.parameters = parameters
        self.danger = danger
        self.tellsState = tellsState
    }

    /// What is to be given with a command.
    public struct Parameter: Sendable, Hashable {
        /// Its name, as it stands in the line.
        public var name: String
        /// What it is, in a few words.
        public var summary: String
        /// What it may be.
        public var value: ValueRange
        /// Its unit, as people write it; nil where it has none.
        public var unit: String?

        /// A parameter.
        public init(_ name: String, _ summary: String, _ value: ValueRange, unit: String? = nil) {
            self.name = name
            self.summary = summary
            self.value = value
            self.unit = unit
        }
    }
}

/// What a value may be.
public enum ValueRange: Sendable, Hashable {
    /// A whole number of that range.
    case integer(ClosedRange<Int>)
    /// A number of that range.
    case number(ClosedRange<Double>)
    /// Yes or no.
    case boolean
    /// One of these words.
    case choice([String])
    /// Text of at most so many bytes in UTF-8; nil for no bound.
    case text(maximumByteCount: Int?)

    /// Whether `text` is such a value.
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
    /// As people are told of it: `0 to 255`, `on or off`.
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
