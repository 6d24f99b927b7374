public import LineProtocol

/// A kind of device, as a program must know it that works with devices of any kind: what they take, what they say, and what
/// is known of them. All of it is data, but for ``wire``.
///
/// A family that this package does not know is described the same way, and handed to whatever takes a family:
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
    /// Its name, as `pump`: what `--family`, `sim:` and a record call it.
    public var name: String
    /// What one is called in a sentence, with its article: `a pump`.
    public var device: String
    /// Bits a second of its serial port, where an endpoint names none; 8 data bits, no parity, 1 stop bit.
    public var baudRate: Int
    /// How long a device may need to read a line that was typed: what comes meanwhile may be lost. Zero where it reads at
    /// any time.
    public var readingTime: Duration
    /// Why its devices have no command that makes them safe, in a clause; nil where they have one. `{NAME}` stands for the
    /// command of that name, as in ``FamilyError/remedy``.
    public var reasonForNoStop: String?
    /// What a host can ask of it.
    public var commands: [FamilyCommand]
    /// What it says unasked.
    public var events: [FamilyEvent]
    /// What it reports as gone wrong.
    public var errors: [FamilyError]
    /// What can be known of it, the main thing first: nothing is recorded while that is unknown. No key is `time`, `link`,
    /// `event`, `text` or `sensor_faults`, which who follows a device tells beside them.
    public var state: [StateField]
    /// What its lines mean, as far as any program must know.
    public var wire: WireRules

    /// A family; what is left out it does not have.
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

/// Two families are the same where their names are.
extension Family: Hashable {
    public static func == (left: Family, right: Family) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Family: CustomStringConvertible {
    public var description: String { name }
}

extension Family {
    /// The families that this package knows.
    public static let all = [pump, storm, led, peer, rescue, raw]

    /// One that was spoken of before: `the pump`.
    public var deviceWithArticle: String {
        for article in ["a ", "an "] where device.hasPrefix(article) { return "the " + device.dropFirst(article.count) }
        return device
    }

    /// The command that asks for the state of a device; nil where there is none.
    public var question: FamilyCommand? { commands.first(where: \.tellsState) }

    /// The command that makes a device safe; nil where there is none.
    public var stop: FamilyCommand? { commands.first { $0.effect == .stop } }

    /// Why its devices have no command that makes them safe, with commands worded by `wording`; nil where they have one.
    public func reasonForNoStop(_ wording: (_ command: String) -> String) -> String? {
        reasonForNoStop.map { FamilyError.worded($0, wording) }
    }

    /// Another family of those that this package knows, of which a device says this line, and no other would; nil where
    /// there is none. To a device of no known family nothing is foreign.
    public func other(recognizing line: [UInt8]) -> Family? {
        self == .raw ? nil : Self.all.first { $0 != self && $0.wire.recognizes(line) }
    }

    /// The field of that key, which says what a value that was recorded is called, and its unit; nil where there is none.
    public func field(_ key: String) -> StateField? { state.first { $0.key == key } }

    /// Whether a line is one of its commands, in upper or lower case, with whatever parameters.
    public func hasCommand(_ line: [UInt8]) -> Bool {
        let text = String(decoding: line, as: UTF8.self).uppercased()
        return commands.contains { command in
            command.parameters.isEmpty
                ? text == command.line.uppercased()
                : text.hasPrefix(command.line.prefix { $0 != "{" }.uppercased())
        }
    }

    /// What is known of the error of that code; nil where nothing is.
    public func error(_ code: String) -> FamilyError? { errors.first { $0.code == code } }
}

/// What lines of a family mean to a program that knows nothing else of it. It is code for now; all else of a family is data.
public struct WireRules: Sendable {
    /// Why a text of one line or several must not be sent as it was typed; nil if it may.
    public var danger: @Sendable (_ text: [UInt8]) -> String?
    /// The code of the error that a line of the device tells of; nil if it tells of none.
    public var errorCode: @Sendable (_ line: Span<UInt8>, _ ending: LineEnding) -> String?
    /// Whether a line is one that a device of this family says, and that no other would.
    public var recognizes: @Sendable (_ line: [UInt8]) -> Bool
    /// Makes a device safe; nil where its family has no command for that.
    public var stop: Stop?
    /// Follows a device; nil where nothing can be known of its state. ``FamilyMonitor/follower(of:)`` makes it.
    public var follow: FamilyMonitor.Follower?

    /// Makes the device at `link` safe, beside whatever else goes over the link, and returns once the device has
    /// acknowledged it. Throws where that did not come about within `timeout`.
    public typealias Stop =
        @Sendable (_ link: any Link, _ timeout: Duration, _ clock: any Clock<Duration>) async throws(SessionError) ->
        Void

    /// Rules; without any, every text may be sent, and no line says anything.
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
