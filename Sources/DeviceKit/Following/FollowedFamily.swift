public import LineProtocol

/// A family whose devices can be followed: what a ``DeviceMonitor`` must know beside how to speak with them.
///
/// A scale that answers `WEIGH` by `WEIGHT:123.4`, and says `OVERLOAD` unasked:
///
/// ```swift
/// extension ScaleFamily: FollowedFamily {
///     static var row: Family { .scale }
///
///     static func values(of state: ScaleState) -> [String: StateValue] {
///         state.grams.map { ["weight_g": .number($0)] } ?? [:]
///     }
///
///     static func message(of answer: ScaleReply) -> ScaleMessage? {
///         if case .weight(let grams) = answer { .weight(grams) } else { nil }
///     }
///
///     static func meaning(of message: ScaleMessage) -> MessageMeaning {
///         switch message {
///         case .weight: .state
///         case .overload: .event("overload", text: "OVERLOAD")
///         case .done: .nothing
///         case .unknown(let bytes): .text(bytes)
///         }
///     }
/// }
/// ```
///
/// A device is asked by ``LineProtocol/DeviceFamily/statusQuery``. One of a family that has none is only listened to.
public protocol FollowedFamily: DeviceFamily {
    /// What the family is, as data: its ``Family/state`` says what ``values(of:)`` may hold.
    static var row: Family { get }

    /// The values that are known of a device, by the keys of the row's ``Family/state``; what is missing is unknown. A number
    /// that a broken sensor gives is there as it was told: see ``StateField/isPlausible(_:)``.
    static func values(of state: State) -> [String: StateValue]

    /// The message by which the device has answered the query for its state, given the reply; nil where that tells no state.
    static func message(of answer: Reply) -> Message?

    /// What a message that answers nothing means.
    static func meaning(of message: Message) -> MessageMeaning

    /// What a person must be alarmed of by `message`; empty where nothing is wrong, nil where the message does not tell. Each
    /// alarm is given once, until a message tells that it is over.
    static func alarms(by message: Message) -> [Alarm]?

    /// What is known of a device, in a few words each, for people: `weight 123.4 g`.
    static func phrases(of state: State) -> [String]

    /// What is otherwise than it was before the link was lost, in a clause; nil where nothing is that matters.
    static func difference(between before: State, and now: State) -> String?

    /// Begins a session; ``LineProtocol/Session/begin(over:clock:waitsUntilReady:)``, which for some families is code of their
    /// own.
    static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool
    ) async throws(SessionError) -> Session<Self>
}

extension FollowedFamily {
    /// None: most devices can't hurt.
    public static func alarms(by message: Message) -> [Alarm]? { nil }

    /// Each value that is known, as its field words it; of the first field also that it is not.
    public static func phrases(of state: State) -> [String] { row.phrases(of: values(of: state)) }

    /// The first field, where it was known and is another now. A number that is measured always is, and is not told.
    public static func difference(between before: State, and now: State) -> String? {
        guard let field = row.state.first, let old = values(of: before)[field.key],
            let new = values(of: now)[field.key], old != new
        else { return nil }
        if case .number = old { return nil }
        return "\(field.label) was \(field.text(of: old)) and is \(field.text(of: new))"
    }

    /// That of any family.
    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool
    ) async throws(SessionError) -> Session<Self> {
        try await Session<Self>.begin(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
    }
}

extension FollowedFamily where Reply == Message {
    /// The answer itself.
    public static func message(of answer: Reply) -> Message? { answer }
}

/// What a message of a device means to somebody who follows it.
public enum MessageMeaning: Sendable, Hashable {
    /// It tells the device's state, or a part of it.
    case state
    /// Something has happened: a button was pressed. `name` is a word for programs, and `text` what the device said.
    case event(_ name: String, text: String)
    /// The device reports an error of this code.
    case error(String)
    /// It is text for people, or nothing of the protocol: a line, without its end.
    case text([UInt8])
    /// It is of no interest, as the second acknowledgement of a command.
    case nothing
}

/// Something that a person must be told of at once. Two are the same where their code and cause are.
public struct Alarm: Sendable, Hashable {
    /// What it is, as a stable word for programs: `sensor_fault`.
    public var code: String
    /// What causes it, likewise: `open`.
    public var cause: String
    /// What is wrong, in a clause.
    public var text: String

    /// An alarm of those parts.
    public init(_ code: String, cause: String = "", _ text: String) {
        self.code = code
        self.cause = cause
        self.text = text
    }

    public static func == (left: Alarm, right: Alarm) -> Bool { (left.code, left.cause) == (right.code, right.cause) }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(cause)
    }
}
