public import LineProtocol
public import RecordFormat

/// One thing that a ``FamilyMonitor`` has to tell: a ``DeviceUpdate`` of any family, its values by the keys of the family's
/// ``Family/state``.
public struct FamilyUpdate: Sendable {
    /// What has happened.
    public enum Event: Sendable {
        /// The device has told its state.
        case status
        /// Something has happened at the device: `name` is a word for programs, and `text` what the device said.
        case happened(_ name: String, text: String)
        /// A person must be told of this at once.
        case alarm(Alarm)
        /// The device reports an error of this code.
        case error(String)
        /// It said something that tells nothing of its state: a line, without its end.
        case text([UInt8])
        /// It did not answer the question for its state in time, refused it, or gave an answer that the protocol does not know.
        case unanswered(SessionError)
        /// The link is lost: the device is waited for.
        case lost(LinkError)
        /// The link is there again, and the device has told its state; `difference` says what is otherwise than before, in a
        /// clause.
        case back(difference: String?)
    }

    /// What the device is.
    public var family: Family
    /// What has happened.
    public var event: Event
    /// What is known, by the keys of the family's fields; nothing while the device does not answer.
    public var values: [String: StateValue]
    /// What is known, in a few words each, for people.
    public var phrases: [String]
    /// Whether there is a link to the device.
    public var isLinkUp: Bool
    /// When it was made, by the system's clock.
    public var time: RecordTime

    /// An update of a device of a known family, without what only that family has.
    ///
    /// - Returns: Nil for what was heard and means nothing.
    public init?<F: FollowedFamily>(_ update: DeviceUpdate<F>) {
        switch update.event {
        case .status: event = .status
        case .heard(let message):
            switch F.meaning(of: message) {
            case .state: event = .status
            case .event(let name, let text): event = .happened(name, text: text)
            case .error(let code): event = .error(code)
            case .text(let bytes): event = .text(bytes)
            case .nothing: return nil
            }
        case .alarm(let alarm): event = .alarm(alarm)
        case .unanswered(let error): event = .unanswered(error)
        case .lost(let error): event = .lost(error)
        case .back(let before): event = .back(difference: F.difference(between: before, and: update.state))
        }
        family = F.row
        values = F.values(of: update.state)
        phrases = F.phrases(of: update.state)
        isLinkUp = update.isLinkUp
        time = update.time
    }
}

extension FamilyUpdate {
    /// Whether a person must be told at once: an alarm, or an error that the device reports without being asked, as that it has
    /// stopped for safety.
    public var isUrgent: Bool {
        switch event {
        case .alarm: true
        case .error(let code): family.error(code)?.isUnsolicited == true
        default: false
        }
    }

    /// What has happened, as a stable word for programs: `status`, an event's name, an alarm's code, `error`, `text`,
    /// `no_answer`, `not_understood`, `refused`, `device_away`, `lost`, `back`.
    public var name: String {
        switch event {
        case .status: "status"
        case .happened(let name, _): name
        case .alarm(let alarm): alarm.code
        case .error: "error"
        case .text: "text"
        case .unanswered(let error) where [.refused, .notUnderstood, .deviceAway].contains(error.code):
            error.code.rawValue
        case .unanswered: SessionError.Code.noAnswer.rawValue
        case .lost: "lost"
        case .back: "back"
        }
    }

    /// What was said, or how it went wrong, as it may be printed; nil where there is no more to say.
    public var text: String? {
        switch event {
        case .status: nil
        case .happened(_, let text): text.printable()
        case .alarm(let alarm): alarm.text.printable()
        case .error(let code): code
        case .text(let bytes): bytes.printable()
        case .unanswered(let error): error.detailedDescription
        case .lost(let error): "\(error)"
        case .back(let difference): difference
        }
    }

    /// Whether the main thing, the first of the family's fields, is known.
    public var isStateKnown: Bool { family.state.first.map { values[$0.key] != nil } ?? false }

    /// The keys of what is known of sensors that can't be right, in the order of the family's fields.
    public var sensorFaults: [String] {
        family.state.filter { field in values[field.key].map { !field.isPlausible($0) } ?? false }.map(\.key)
    }
}

extension SessionError {
    /// The error, with how long was waited, or what came instead.
    fileprivate var detailedDescription: String {
        switch code {
        case .noAnswer: "\(self)" + (waited.map { " in \($0.inSeconds) s" } ?? "")
        case .notUnderstood: "\(self): \((foreignLine ?? []).printable(limit: 60))"
        default: "\(self)"
        }
    }
}

extension Family {
    /// What is known, each field in a few words: `weight 123.4 g`; of the first field also that it is not known.
    public func phrases(of values: [String: StateValue]) -> [String] {
        state.enumerated().compactMap { index, field in
            if let value = values[field.key] { return "\(field.label) \(field.text(of: value))" }
            return index == 0 ? "\(field.label) unknown" : nil
        }
    }
}
