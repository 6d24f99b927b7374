internal import ControlProtocol
internal import DeviceKit
internal import StrictJSON

extension Family {
    /// Returns the line of a command with its parameters filled in.
    ///
    /// - Throws: `usage` if the family has no such command, or if a parameter is missing, unknown or invalid.
    func line(of name: String, _ parameters: [String: JSONValue]) throws(ControlFailure) -> [UInt8] {
        guard let command = commands.first(where: { $0.name == name }) else {
            throw .usage(
                "\(device) has no command '\(name)'",
                hint: "use one of: " + commands.map(\.name).joined(separator: ", "))
        }
        let known = Set(command.parameters.map(\.name))
        if let stranger = parameters.keys.filter({ !known.contains($0) }).min() {
            throw .usage("'\(name)' has no parameter '\(stranger)'")
        }
        var line = ""
        var rest = command.line[...]
        for parameter in command.parameters {
            guard let range = rest.firstRange(of: "{\(parameter.name)}") else { continue }
            line += rest[..<range.lowerBound] + (try parameter.text(of: parameters[parameter.name]))
            rest = rest[range.upperBound...]
        }
        return Array((line + rest).utf8)
    }
}

extension FamilyCommand.Parameter {
    /// Returns the value as text for the line.
    fileprivate func text(of json: JSONValue?) throws(ControlFailure) -> String {
        let text: String? =
            switch value {
            case .integer: json?.integer?.description
            case .number: json?.integer?.description ?? json?.number?.description
            case .boolean: json?.boolean?.description
            case .choice, .text: json?.text
            }
        guard let text, value.accepts(text), Array(text.utf8).isOneLine else {
            throw .usage("parameter '\(name)', \(summary), must be \(value)" + (unit.map { " \($0)" } ?? ""))
        }
        return text
    }
}

extension [UInt8] {
    /// Whether every device takes the bytes for a single line.
    var isOneLine: Bool { !contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 } }
}
