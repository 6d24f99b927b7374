public import LineProtocol

/// A kind of device, described for programs that work with devices of any kind: its commands, its unsolicited lines,
/// its errors and its state. All properties are data, except ``wire``.
///
/// A family that this package does not define is described in the same way, and passed to every function that takes a
/// family:
///
/// ```swift
/// let scale = Family(
///     name: "scale", device: "a scale", baudRate: 9600,
///     commands: [
///         FamilyCommand("weigh", sends: "WEIGH", "Ask for the weight.", effect: .query, tellsState: true),
///         FamilyCommand("tare", sends: "TARE", "Make the present weight zero.", effect: .change),
///     ],
///     events: [FamilyEvent("OVERLOAD", "There is more on the scale than it can bear.", name: "overload")],
///     state: [StateField("weight_g", "weight", .number(0...5000), unit: "g")],
///     wire: WireRules(follow: FamilyMonitor.follower(of: ScaleFamily.self)))
/// ```
public struct Family: Sendable {
    /// The name of the family, such as `pump`, for `--family`, `sim:` and records.
    public var name: String
    /// A device of the family in a sentence, with the indefinite article: `a pump`.
    public var device: String
    /// The baud rate of the serial port if an endpoint names none. The format is 8 data bits, no parity, 1 stop bit.
    public var baudRate: Int
    /// The time that a device may need to read a typed line; further bytes may be lost during that time. Zero if the
    /// device reads at any time.
    public var readingTime: Duration
    /// The reason that devices of the family have no command that makes them safe, as a clause; nil if they have one
    /// or if no reason is given. `{NAME}` stands for the command of that name, as in ``FamilyError/remedy``.
    public var reasonForNoStop: String?
    /// The commands that a host can send.
    public var commands: [FamilyCommand]
    /// The lines that the devices send unsolicited, or that begin or end a long answer.
    public var events: [FamilyEvent]
    /// The errors that the devices report.
    public var errors: [FamilyError]
    /// The fields of a device's state, the most important first: no state is recorded while the first field is unknown.
    /// The keys `time`, `link`, `event`, `text` and `sensor_faults` are reserved for updates about a followed device.
    public var state: [StateField]
    /// The rules for the family's lines, as code.
    public var wire: WireRules

    /// Creates a family. Omitted properties stand for features that the family does not have.
    ///
    /// - Parameters:
    ///   - name: The name of the family, such as `pump`.
    ///   - device: A device of the family, with the indefinite article: `a pump`.
    ///   - baudRate: The default baud rate of the serial port.
    ///   - readingTime: The time that a device may need to read a typed line.
    ///   - reasonForNoStop: The reason that there is no command that makes a device safe; nil if there is one, or to
    ///     give no reason.
    ///   - commands: The commands that a host can send.
    ///   - events: The lines that the devices send unsolicited, or that begin or end a long answer.
    ///   - errors: The errors that the devices report.
    ///   - state: The fields of a device's state, the most important first.
    ///   - wire: The meaning of the family's lines.
    public init(
        name: String, device: String, baudRate: Int, readingTime: Duration = .zero, reasonForNoStop: String? = nil,
        commands: [FamilyCommand] = [], events: [FamilyEvent] = [], errors: [FamilyError] = [],
        state: [StateField] = [],
        wire: WireRules = WireRules()
    ) {
        self.name = name
        self.device = device
        self.baudRate = baudRate
        self.readingTime = readingTime
        self.reasonForNoStop = reasonForNoStop
        self.commands = commands
        self.events = events
        self.errors = errors
        self.state = state
        self.wire = wire
    }
}

/// Two families are equal if their names are equal.
extension Family: Hashable {
    public static func == (left: Family, right: Family) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Family: CustomStringConvertible {
    public var description: String { name }
}

extension Family {
    /// The families that this package defines, including ``raw``.
    public static let all = [pump, storm, led, peer, rescue, raw]

    /// A device of the family in a sentence, with the definite article: `the pump`.
    public var deviceWithArticle: String {
        for article in ["a ", "an "] where device.hasPrefix(article) { return "the " + device.dropFirst(article.count) }
        return device
    }

    /// The command that asks for a device's state; nil if there is none.
    public var question: FamilyCommand? { commands.first(where: \.tellsState) }

    /// The command that makes a device safe; nil if there is none.
    public var stop: FamilyCommand? { commands.first { $0.effect == .stop } }

    /// Returns the reason that devices of the family have no command that makes them safe; nil if they have one or
    /// if no reason is given.
    ///
    /// - Parameter wording: Returns the text for the command of a name, which replaces `{NAME}`.
    public func reasonForNoStop(_ wording: (_ command: String) -> String) -> String? {
        reasonForNoStop.map { FamilyError.worded($0, wording) }
    }

    /// Returns the other family of this package whose devices, and no others, send this line; nil if there is none.
    /// Always nil for ``raw``, to which no line is foreign.
    public func other(recognizing line: [UInt8]) -> Family? {
        self == .raw ? nil : Self.all.first { $0 != self && $0.wire.recognizes(line) }
    }

    /// Returns the field with this key, such as the name of a recorded value; nil if there is none.
    public func field(_ key: String) -> StateField? { state.first { $0.key == key } }

    /// Whether a line is a command of the family. Case is ignored, and a command with parameters is recognized by the
    /// text before the first parameter.
    public func hasCommand(_ line: [UInt8]) -> Bool {
        let text = String(decoding: line, as: UTF8.self).uppercased()
        return commands.contains { command in
            command.parameters.isEmpty
                ? text == command.line.uppercased()
                : text.hasPrefix(command.line.prefix { $0 != "{" }.uppercased())
        }
    }

    /// Returns the description of the error with this code; nil if the family does not list the error.
    public func error(_ code: String) -> FamilyError? { errors.first { $0.code == code } }
}

/// The meaning of a family's lines as functions, for programs that know nothing else about the family. Lines are passed
/// without their ends.
public struct WireRules: Sendable {
    /// Returns the reason that a text, of one line or several, must not be sent as typed; nil if sending is safe.
    public var danger: @Sendable (_ text: [UInt8]) -> String?
    /// Returns the code of the error that a device's line reports; nil if the line reports none.
    public var errorCode: @Sendable (_ line: Span<UInt8>, _ ending: LineEnding) -> String?
    /// Returns whether only devices of this family send a line.
    public var recognizes: @Sendable (_ line: [UInt8]) -> Bool
    /// Makes a device safe; nil if no command of the family does. ``Family/raw`` uses the pump's function, because its
    /// devices may be pumps.
    public var stop: Stop?
    /// Follows a device; nil if no state of the device can be known. Use ``FamilyMonitor/follower(of:)`` to make this
    /// function.
    public var follow: FamilyMonitor.Follower?

    /// Makes the device at `link` safe. Returns once the device is known to be safe, and throws if it is not within
    /// `timeout`, which a pump's stop extends by `Session.stopExtension` at most. The function receives from `link` and
    /// may close it. A caller that needs the link later passes a wrapper that stays open when it is closed, as
    /// ``HeldLink`` does.
    public typealias Stop =
        @Sendable (_ link: any Link, _ timeout: Duration, _ clock: any Clock<Duration>) async throws(SessionError) ->
        Void

    /// Creates rules. By default, every text may be sent and no line has a meaning.
    public init(
        danger: @escaping @Sendable (_ text: [UInt8]) -> String? = { _ in nil },
        errorCode: @escaping @Sendable (_ line: Span<UInt8>, _ ending: LineEnding) -> String? = { _, _ in nil },
        recognizes: @escaping @Sendable (_ line: [UInt8]) -> Bool = { _ in false }, stop: Stop? = nil,
        follow: FamilyMonitor.Follower? = nil
    ) {
        self.danger = danger
        self.errorCode = errorCode
        self.recognizes = recognizes
        self.stop = stop
        self.follow = follow
    }
}
