/// A check of a host with a device that pumpctl plays: a rule of docs/protocols.md, and the way to judge whether the
/// host keeps the rule.
public struct HostCheck: Sendable {
    /// The way to judge whether a host keeps a rule.
    public enum Judgement: Sendable, Hashable {
        /// By a rule for the host's output, in the syntax of `pumpctl sim --expect`: see `HostRule`.
        case rule(String)
        /// By the host's exit status. Status 0 means that the host has understood the device.
        case exitStatus
    }

    /// The permanent name of the check, such as `one-in-flight`, without the name of the played device.
    public let name: String
    /// The number of the rule within its family.
    let number: Int
    /// The text of the rule, or of the part under test.
    let words: String
    /// The way to judge whether the host keeps the rule.
    public let judgement: Judgement
    /// The expected behaviour, as a sentence for the report of a failure.
    public let expectation: String
    /// Whether the check can be made only if the host uses the device through a pseudo-terminal, which shows the baud
    /// rate that the host has set.
    public let needsTerminal: Bool
    /// A condition on the played device's output, such as `meets=line:STATUS:`; nil if there is none. If the output
    /// never meets this condition, a host that ends with status 0 counts as untested.
    public let premise: String?

    init(
        _ name: String, _ number: Int, _ words: String, _ judgement: Judgement, expecting expectation: String,
        needsTerminal: Bool = false, premise: String? = nil
    ) {
        self.name = name
        self.number = number
        self.words = words
        self.judgement = judgement
        self.expectation = expectation
        self.needsTerminal = needsTerminal
        self.premise = premise
    }

    /// The rules that the played device must watch for the check, in the syntax of `pumpctl sim --expect`: the rule of
    /// the judgement or, for a judgement by the exit status, the premise.
    public var expectations: [String] {
        if case .rule(let rule) = judgement { [rule] } else { premise.map { [$0] } ?? [] }
    }
}

/// A device that pumpctl plays, and the checks of a host that uses the device.
public struct PlayedDevice: Sendable {
    /// The permanent name of the device, such as `older`.
    public let name: String
    /// The peculiarity of the device, as a noun phrase.
    public let summary: String
    /// The simulator's options that give the device its peculiarity, by their names.
    public let options: [String: String]
    /// The checks of a host that uses the device.
    public let checks: [HostCheck]

    init(_ name: String, _ summary: String, _ options: [String: String] = [:], _ checks: [HostCheck]) {
        self.name = name
        self.summary = summary
        self.options = options
        self.checks = checks
    }
}

/// The checks of hosts of one family.
public struct HostVerification: Sendable {
    /// The family's name.
    public let family: String
    /// The devices, in the order in which they are played. The first is named `plain`.
    public let devices: [PlayedDevice]

    /// The host checks of all families that have some.
    public static let all: [HostVerification] = [.pump, .storm, .led, .peer, .rescue]

    /// Returns the host checks of the family `name`; nil if there are none.
    public static func named(_ name: String) -> HostVerification? { all.first { $0.family == name } }

    /// Returns the permanent name of a check in reports: `pump.host.older.understands`.
    public func id(of check: HostCheck, with device: PlayedDevice) -> String {
        "\(family).host.\(device.name).\(check.name)"
    }

    /// Returns the citation of the rule that a check tests, as in ``Check/rule``.
    public func rule(of check: HostCheck) -> String { Check.rule(of: family, check.number, check.words) }
}
