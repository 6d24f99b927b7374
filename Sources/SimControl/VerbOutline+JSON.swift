internal import FirmwareSim
internal import StrictJSON

extension VerbOutline {
    /// Whether an argument is the path of a file. Such a verb is not described: a program that passes verbs on must not
    /// let its users name files.
    var namesFile: Bool { arguments.contains { $0.value == .file } }

    /// The verb as data for programs. Members that do not apply are left out.
    var json: JSONValue {
        let members: [String: JSONValue?] = [
            "name": .text(name), "option": option.map(JSONValue.text), "summary": .text(help),
            "arguments": .array(arguments.map { $0.json(suggestions) }),
        ]
        return .object(members.compactMapValues(\.self))
    }
}

extension SimulatorOption {
    fileprivate func json(_ suggestions: [String]) -> JSONValue {
        var members = value.members
        members["name"] = .text(name)
        members["summary"] = .text(help)
        if !suggestions.isEmpty { members["suggestions"] = .array(suggestions.map(JSONValue.text)) }
        return .object(members)
    }
}

extension SimulatorOption.Value {
    /// The type and its limits.
    fileprivate var members: [String: JSONValue] {
        switch self {
        case .number(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .decimal(let range):
            ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .choice(let words): ["type": "choice", "choices": .array(words.map(JSONValue.text))]
        case .flag: ["type": "choice", "choices": .array(["on", "off"])]
        case .time: ["type": "time"]
        case .seed, .text, .file, .faults, .steps, .expectations: ["type": "text"]
        }
    }
}
