public import LineProtocol

/// A family whose devices a ``DeviceMonitor`` can follow.
///
/// This example is a scale that answers `WEIGH` with `WEIGHT:123.4`, and sends `OVERLOAD` unsolicited:
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
/// The monitor queries a device with `DeviceFamily.statusQuery`. If the family has none, the monitor
/// only listens.
public protocol FollowedFamily: DeviceFamily {
    /// The description of the family as data, called a row because ``Family/all`` is a table of families. Its
    /// ``Family/state`` lists the fields for ``values(of:)``.
    static var row: Family { get }

    /// Returns the known values of a device, by the keys in the row's ``Family/state``. Missing fields are unknown. A
    /// number from a faulty sensor is returned as reported: see ``StateField/isPlausible(_:)``.
    static func values(of state: State) -> [String: StateValue]

    /// Returns the message with the state from the reply to `DeviceFamily.statusQuery`; nil if the reply
    /// contains no state.
    static func message(of answer: Reply) -> Message?

    /// Returns the meaning of an unsolicited message.
    static func meaning(of message: Message) -> MessageMeaning

    /// Returns the alarms that `message` raises; empty if the message shows that there is no fault, nil if the message
    /// says nothing about faults. The monitor reports each alarm once, until a message shows that its fault is over.
    static func alarms(by message: Message) -> [Alarm]?

    /// Returns the known state for people, a few words for each value: `weight 123.4 g`.
    static func phrases(of state: State) -> [String]

    /// Returns the change of the state since the link was lost, as a clause; nil if there is none that matters.
    static func difference(between before: State, and now: State) -> String?

    /// Begins a session: `Session.begin(over:clock:waitsUntilReady:observer:)`, which some families
    /// specialize.
    static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool
    ) async throws(SessionError) -> Session<Self>
}

extension FollowedFamily {
    /// Returns nil: devices of most families can do no harm.
    public static func alarms(by message: Message) -> [Alarm]? { nil }

    /// Returns each known value with the label and the unit of its field. The first field is listed even if it is
    /// unknown.
    public static func phrases(of state: State) -> [String] { row.phrases(of: values(of: state)) }

    /// Returns the change of the first field, if its values before and now are known and different; else nil. Also
    /// returns nil for a measured number, whose changes are normal.
    public static func difference(between before: State, and now: State) -> String? {
        guard let field = row.state.first, let old = values(of: before)[field.key],
            let new = values(of: now)[field.key], old != new
        else { return nil }
        if case .number = old { return nil }
        return "\(field.label) was \(field.text(of: old)) and is \(field.text(of: new))"
    }

    /// Begins a session without specialization for a family.
    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool
    ) async throws(SessionError) -> Session<Self> {
        try await Session<Self>.begin(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
    }
}

extension FollowedFamily where Reply == Message {
    /// Returns the reply itself.
    public static func message(of answer: Reply) -> Message? { answer }
}

/// The meaning of a device's message for a monitor.
public enum MessageMeaning: Sendable, Hashable {
    /// The message contains the device's state, or part of it.
    case state
    /// An event at the device, such as a pressed button. `name` is a word for programs, and `text` is the device's
    /// line.
    case event(_ name: String, text: String)
    /// The device reports the error with this code.
    case error(String)
    /// A line, without its end, that is text for people or unknown to the protocol.
    case text([UInt8])
    /// The message has no meaning on its own, such as the `OK` with which a pump's reply begins.
    case nothing
}

/// A fault that a person must know of at once. Two alarms are equal if their codes and causes are equal.
public struct Alarm: Sendable, Hashable {
    /// The kind of fault, as a stable word for programs: `sensor_fault`.
    public var code: String
    /// The cause, as a stable word for programs: `open`.
    public var cause: String
    /// The fault in a clause, for people.
    public var text: String

    /// Creates an alarm from its parts.
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
