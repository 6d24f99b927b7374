public import LineProtocol
public import RecordFormat

/// An update of a ``FamilyMonitor``: a ``DeviceUpdate`` of any family, with values by the keys in the family's
/// ``Family/state``.
public struct FamilyUpdate: Sendable {
    /// The kinds of events.
    public enum Event: Sendable {
        /// The device has reported its state.
        case status
        /// An event at the device. `name` is a word for programs, and `text` is the device's line.
        case happened(_ name: String, text: String)
        /// A fault that a person must know of at once.
        case alarm(Alarm)
        /// The device has reported the error with this code.
        case error(String)
        /// A line, without its end, that says nothing about the device's state.
        case text([UInt8])
        /// The query for the state has failed: no reply came in time, an unknown reply came, the device refused the
        /// query, or the daemon that shares the device can't reach the device.
        case unanswered(SessionError)
        /// The link is lost, and the monitor waits for the device.
        case lost(LinkError)
        /// The link is restored, and the device has reported its state if its family has a query for it. `difference`
        /// is the change of the state since the loss, as a clause; nil if there is none that matters.
        case back(difference: String?)
    }

    /// The family of the device.
    public var family: Family
    /// The event.
    public var event: Event
    /// The known values, by the keys of the family's fields. Empty while the device does not answer or the link is
    /// lost.
    public var values: [String: StateValue]
    /// The known values for people, a few words each.
    public var phrases: [String]
    /// Whether the link to the device is up.
    public var isLinkUp: Bool
    /// The time of the update by the system's clock.
    public var time: RecordTime

    /// Converts an update of a ``DeviceMonitor``. Details that ``FamilyUpdate`` can't represent are dropped.
    ///
    /// - Returns: Nil for a message without a meaning.
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
    /// Whether a person must know of the update at once: an alarm or an unsolicited error, such as a safety shut-off.
    public var isUrgent: Bool {
        switch event {
        case .alarm: true
        case .error(let code): family.error(code)?.isUnsolicited == true
        default: false
        }
    }

    /// The event as a stable word for programs: `status`, the name of an event, the code of an alarm, `error`, `text`,
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

    /// The device's text, the description of the failure, or the change of the state since a loss, for people; nil if
    /// there is none.
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

    /// Whether the first field of the family's state is known.
    public var isStateKnown: Bool { family.state.first.map { values[$0.key] != nil } ?? false }

    /// The keys of fields with implausible values, in the order of the family's fields.
    public var sensorFaults: [String] {
        family.state.filter { field in values[field.key].map { !field.isPlausible($0) } ?? false }.map(\.key)
    }
}

extension SessionError {
    /// The description of the error, with the time waited or the reply received.
    fileprivate var detailedDescription: String {
        switch code {
        case .noAnswer: "\(self)" + (waited.map { " in \($0.inSeconds) s" } ?? "")
        case .notUnderstood: "\(self): \((foreignLine ?? []).printable(limit: 60))"
        default: "\(self)"
        }
    }
}

extension Family {
    /// Returns the known values for people, a few words each: `weight 123.4 g`. The first field is listed even if it is
    /// unknown.
    public func phrases(of values: [String: StateValue]) -> [String] {
        state.enumerated().compactMap { index, field in
            if let value = values[field.key] { return "\(field.label) \(field.text(of: value))" }
            return index == 0 ? "\(field.label) unknown" : nil
        }
    }
}
