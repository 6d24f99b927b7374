internal import LineProtocol
public import RecordFormat
public import Transports

extension Reading {
    /// Creates a reading of a device's recorded fields. An implausible number is included without a value.
    /// An unknown field is included only if it has an ``StateField/unknownWord``.
    public init(_ values: [String: StateValue], of family: Family) {
        self.init()
        for field in family.state where field.isRecorded {
            switch values[field.key] {
            case .number(let value)?: add(field.key, field.isPlausible(.number(value)) ? value : nil)
            case .integer(let value)?: add(field.key, value)
            case .boolean(let value)?: add(field.key, value)
            case .text(let text)?: add(field.key, text)
            case nil: if let word = field.unknownWord { add(field.key, word) }
            }
        }
    }
}

extension Recording {
    /// Records an update of a monitor: its event, unless the update only reports the state; and the state if its first
    /// field is known, except after text, which says nothing about the state. A loss ends the session, and a return
    /// begins a new one.
    ///
    /// - Parameters:
    ///   - update: The update.
    ///   - endpoint: The endpoint of the device, for a new session.
    public func record(_ update: FamilyUpdate, of endpoint: Endpoint) {
        let text = update.text ?? ""
        var tellsState = true
        switch update.event {
        case .status: break
        case .happened: record(.event(kind: update.name, text: text))
        case .text:
            record(.event(kind: update.name, text: text))
            tellsState = false
        case .error(let code): record(.error(code: code, text: "\(update.family.deviceWithArticle) reports \(code)"))
        case .alarm, .unanswered: record(.error(code: update.name, text: text))
        case .lost:
            record(.error(code: update.name, text: text))
            return endSession(update.name)
        case .back: beginSession(at: endpoint)
        }
        if tellsState, update.isStateKnown {
            record(.reading(kind: update.name, Reading(update.values, of: update.family)))
        }
    }
}
