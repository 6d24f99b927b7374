internal import ControlProtocol
internal import DeviceKit
internal import LineProtocol
internal import StrictJSON

extension Family {
    /// The family as data for programs: the response to `describe` contains one such object for each family. Members
    /// that do not apply are left out.
    var json: JSONValue {
        .members([
            "name": .text(name), "device": .text(device),
            "stop": stop.map { .text($0.name) }, "no_stop": reasonForNoStop(Self.wording).map(JSONValue.text),
            "question": question.map { .text($0.name) },
            "poll_s": question.map { _ in .number(SharedDevice.pollInterval / .seconds(1)) },
            "content": (SharedFamily.row(of: self)?.content).map { .text($0.name) },
            "commands": .array(commands.map(\.json)), "state": .array(state.map(\.json)),
            "events": .array(events.map(\.json)), "errors": .array(errors.map { $0.json(Self.wording) }),
        ])
    }

    /// The text for a command in advice for programs.
    static func wording(_ command: String) -> String { "command '\(command)'" }
}

extension FamilyCommand {
    fileprivate var json: JSONValue {
        .members([
            "name": .text(name), "summary": .text(summary), "effect": .text(effect.word),
            "danger": danger.map(JSONValue.text), "parameters": .array(parameters.map(\.json)),
            "states": states.map { .array($0.map(JSONValue.text)) },
        ])
    }
}

extension FamilyCommand.Parameter {
    fileprivate var json: JSONValue {
        .members(
            value.members.merging([
                "name": .text(name), "summary": .text(summary), "unit": unit.map(JSONValue.text),
            ]) { $1 })
    }
}

extension StateField {
    fileprivate var json: JSONValue {
        .members(
            value.members.merging([
                "key": .text(key), "label": .text(label), "unit": unit.map(JSONValue.text),
                "unknown": unknownWord.map(JSONValue.text),
                "levels": levels.isEmpty ? nil : .array(levels.map(\.json)),
            ]) { $1 })
    }
}

extension StateField.Level {
    fileprivate var json: JSONValue {
        .members(["up_to": upTo.map(JSONValue.number), "word": .text(word), "grade": .text(grade.rawValue)])
    }
}

extension ValueRange {
    /// The type and the limits of a value.
    fileprivate var members: [String: JSONValue?] {
        switch self {
        case .integer(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .number(let range):
            ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .boolean: ["type": "boolean"]
        case .choice(let words): ["type": "choice", "choices": .array(words.map(JSONValue.text))]
        case .text(let limit): ["type": "text", "maximum_bytes": limit.map(JSONValue.integer)]
        }
    }
}

extension FamilyEvent {
    fileprivate var json: JSONValue {
        .members([
            "line": .text(line), "summary": .text(summary), "name": name.map(JSONValue.text),
            "phrase": phrase.map(JSONValue.text), "by_hand": .boolean(isByHand),
        ])
    }
}

extension FamilyError {
    fileprivate func json(_ wording: (_ command: String) -> String) -> JSONValue {
        .members([
            "code": .text(code), "meaning": .text(summary), "remedy": remedy(wording).map(JSONValue.text),
            "unsolicited": .boolean(isUnsolicited),
        ])
    }
}

extension CommandEffect {
    /// The effect as a word for programs.
    fileprivate var word: String {
        switch self {
        case .query: "query"
        case .change: "change"
        case .stop: "stop"
        }
    }
}

extension JSONValue {
    /// An object of the members that are not nil.
    static func members(_ members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues(\.self)) }
}
