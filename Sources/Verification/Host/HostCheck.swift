/// One row of what is tested of a host, by one who plays the device: a rule of docs/protocols.md.
public struct HostCheck: Sendable {
    /// How it is judged whether a host keeps to the rule.
    public enum Judgement: Sendable, Hashable {
        /// By a rule on what it sends, as `pumpctl sim --expect` takes it: see `HostRule`.
        case rule(String)
        /// By its exit status, which has to be 0: it has understood the device.
        case exitStatus
    }

    /// What it is called, for good, without the device that is played: `one-in-flight`.
    public let name: String
    /// Which rule of the family it is.
    let number: Int
    /// What the rule says of this, in a clause.
    let words: String
    public let judgement: Judgement
    /// What was expected, in a sentence, where it fails.
    public let expectation: String
    /// Whether it can be judged only where the host is on a pseudo-terminal.
    public let needsTerminal: Bool
    /// What the device has to have said, or the host has passed without a test: `meets=line:STATUS:`; nil for nothing.
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

    /// What the played device has to watch for, as `pumpctl sim --expect` takes it.
    public var expectations: [String] {
        if case .rule(let rule) = judgement { [rule] } else { premise.map { [$0] } ?? [] }
    }
}

/// A device that hosts meet, and what is tested of a host that meets it.
public struct PlayedDevice: Sendable {
    /// What it is called, for good: `older`.
    public let name: String
    /// What is special about it, as a noun phrase.
    public let summary: String
    /// The options of the simulator that make it, by their names.
    public let options: [String: String]
    public let checks: [HostCheck]

    init(_ name: String, _ summary: String, _ options: [String: String] = [:], _ checks: [HostCheck]) {
        self.name = name
        self.summary = summary
        self.options = options
        self.checks = checks
    }
}

/// What is tested of the hosts of one family.
public struct HostVerification: Sendable {
    /// The family's name.
    public let family: String
    /// In the order in which they are played. The first is the device as it is.
    public let devices: [PlayedDevice]

    /// All families.
    public static let all: [HostVerification] = [.pump, .storm, .led, .peer, .rescue]

    /// The row of the family of that name; nil where there is none.
    public static func named(_ name: String) -> HostVerification? { all.first { $0.family == name } }

    /// What a check is called in reports, for good: `pump.host.older.understands`.
    public func id(of check: HostCheck, with device: PlayedDevice) -> String {
        "\(family).host.\(device.name).\(check.name)"
    }

    /// The rule that a check tests, as in ``Check/rule``.
    public func rule(of check: HostCheck) -> String { Check.rule(of: family, check.number, check.words) }
}
