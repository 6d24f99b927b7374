/// What one check found.
struct Diagnosis: Equatable {
    enum Status: String {
        /// As it should be.
        case ok
        /// It works, and may get in the way.
        case warn
        /// It does not work until it is mended.
        case fail
    }

    /// The check, as a stable word for programs.
    let check: String
    let status: Status
    /// The port concerned; nil for the computer as a whole.
    let port: String?
    /// What was found, in one sentence without a full stop.
    let finding: String
    /// A command that mends it, or what else to do.
    let remedy: String?
    /// The exit of a command that this stands in the way of.
    let exit: ExitStatus

    static func ok(_ check: String, port: String? = nil, _ finding: String) -> Diagnosis {
        Diagnosis(check: check, status: .ok, port: port, finding: finding, remedy: nil, exit: .done)
    }

    static func warn(_ check: String, port: String? = nil, _ finding: String, remedy: String?) -> Diagnosis {
        Diagnosis(check: check, status: .warn, port: port, finding: finding, remedy: remedy, exit: .done)
    }

    static func fail(
        _ check: String, port: String? = nil, _ finding: String, remedy: String?, exit: ExitStatus
    ) -> Diagnosis {
        Diagnosis(check: check, status: .fail, port: port, finding: finding, remedy: remedy, exit: exit)
    }
}

extension Diagnosis: Encodable {
    enum CodingKeys: String, CodingKey {
        case check, status, port, finding, remedy
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(check, forKey: .check)
        try container.encode(status.rawValue, forKey: .status)
        try container.encodeIfPresent(port, forKey: .port)
        try container.encode(finding, forKey: .finding)
        try container.encodeIfPresent(remedy, forKey: .remedy)
    }
}

extension Diagnosis {
    /// A line for people, and the remedy on a second.
    var text: String {
        let mark = status.rawValue + String(repeating: " ", count: 6 - status.rawValue.count)
        return mark + (port.map { "\($0): " } ?? "") + finding + (remedy.map { "\n      → \($0)" } ?? "")
    }
}
