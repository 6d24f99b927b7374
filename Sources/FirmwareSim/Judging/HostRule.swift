/// A rule that a host can be expected to follow, described as data.
public struct HostRule: Sendable {
    enum Kind: Sendable, Hashable {
        case commands, baudRate, noFlush, oneInFlight, pacing, reaction, repeats, refrains, meets
    }

    /// The value that a rule takes after `=`.
    enum Amount: Sendable, Hashable {
        case nothing, time
        /// A time, a command unless any command will do, and a line.
        case reaction
        /// A time, a command, and a line.
        case repetition
        /// A command, and a line.
        case restraint
        case line
    }

    /// The name, in lower case, such as `pacing`.
    public let name: String
    /// A sentence that states the rule, for help texts.
    public let help: String
    /// The URL of a public thread about a host that broke the rule; empty if the rule asks nothing of the host.
    public let source: String

    let kind: Kind
    let amount: Amount

    /// Whether the rule can be judged on a pseudo-terminal only.
    var needsTerminal: Bool { kind == .baudRate || kind == .noFlush }

    /// The rules that help texts list.
    public static let all: [HostRule] = [
        HostRule(
            name: "commands", help: "Sends only commands of the device's protocol.",
            source: "https://github.com/cyphunk/JTAGenum/issues/26", kind: .commands, amount: .nothing),
        HostRule(
            name: "baud", help: "Sends at the baud rate of the device; on a pseudo-terminal.",
            source: "https://github.com/esp8266/Arduino/issues/2130", kind: .baudRate, amount: .nothing),
        HostRule(
            name: "no-flush", help: "Does not flush its input while the device answers; on a pseudo-terminal.",
            source: "https://github.com/pyserial/pyserial/issues/249", kind: .noFlush, amount: .nothing),
        HostRule(
            name: "one-in-flight", help: "Sends no command before the last one is answered, except OFF to a pump.",
            source: "https://github.com/Twilight-Logic/AR488/issues/5", kind: .oneInFlight, amount: .nothing),
        HostRule(
            name: "pacing", help: "Begins commands at least this time apart, except OFF to a pump.",
            source: "https://github.com/OpenROV/openrov-software/pull/322", kind: .pacing, amount: .time),
        HostRule(
            name: "reaction",
            help: "Sends a command, or the one after '/', within this time of a line with this beginning.",
            source: "https://github.com/MatterHackers/MatterControl/issues/440", kind: .reaction, amount: .reaction),
        HostRule(
            name: "repeats",
            help: "Sends the command after '/' again within this time, until a line with this beginning arrives.",
            source: "https://github.com/makerbot/ReplicatorG/issues/136", kind: .repeats, amount: .repetition),
        HostRule(
            name: "refrains",
            help: "Does not send this command after a line with this beginning, until it has switched the device off.",
            source: "https://github.com/prusa3d/Prusa-Firmware/issues/14", kind: .refrains, amount: .restraint),
    ]

    /// A rule that asks nothing of the host. The expectation stays untested until the device has sent the line that a
    /// test of the host depends on.
    static let meets = HostRule(
        name: "meets", help: "Is connected when such a line arrives.", source: "", kind: .meets, amount: .line)
}

/// An expectation of a host: `NAME[=AMOUNT]`.
///
/// | written | means |
/// | --- | --- |
/// | `baud` | the host sends at the device's baud rate |
/// | `pacing=50ms` | the beginnings of two commands are at least 50 ms apart |
/// | `reaction=5s@line:ERROR` | the host sends a command within 5 s of a line that begins with `ERROR` |
/// | `reaction=5s/OFF@line:ERROR` | the host sends `OFF` within 5 s of a line that begins with `ERROR` |
/// | `repeats=5s/OFF@line:PUMP:OFF` | the host sends `OFF` again within 5 s, until a line has begun with `PUMP:OFF` |
/// | `repeats=5s/OFF@line:PUMP:OFF|STATUS:{State:OFF` | the same, until one of these lines has come |
/// | `refrains=ON@line:ERROR` | after a line that begins with `ERROR`, the host does not send `ON` before `OFF` |
/// | `meets=line:OK\nSTATUS:` | the host is there when a line `OK`, and then one that begins with `STATUS:`, come |
public struct HostExpectation: Sendable {
    let rule: HostRule
    /// The time limit; zero if the rule takes no time.
    var time = Duration.zero
    /// The beginnings of the lines on which the rule depends; none if the rule takes no line.
    var lines: [[UInt8]] = []
    /// The command that the host must send, or must not send, in upper case; nil for any command.
    var command: [UInt8]?
    /// The expectation as typed.
    let text: String

    /// Parses an expectation.
    init(_ text: String) throws(WrongPart) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let rule = (HostRule.all + [.meets]).first(where: { $0.name == parts[0] }) else {
            let known = HostRule.all.map(\.name)
            throw WrongPart(text, .unknown(UnknownWord(kind: "rule", word: parts[0], known: known)))
        }
        self.rule = rule
        self.text = text
        guard takeAmount(parts.count > 1 ? parts[1] : nil) else {
            throw WrongPart(text, .takes(rule.name, what: rule.amount.words(of: rule.name)))
        }
    }

    /// Takes the value of the rule from a text.
    ///
    /// - Parameter text: The text after `=`; nil if there is none.
    /// - Returns: Whether the rule takes the text.
    private mutating func takeAmount(_ text: String?) -> Bool {
        switch (rule.amount, text) {
        case (.nothing, let text): return text == nil
        case (_, nil): return false
        case (.time, let text?):
            guard let time = SimulatorOption.time(text) else { return false }
            self.time = time
            return true
        case (.reaction, let text?), (.restraint, let text?): return takeReaction(text)
        case (.repetition, let text?): return takeReaction(text) && command != nil
        case (.line, let text?): return takeLines(text)
        }
    }

    private mutating func takeLines(_ text: String) -> Bool {
        guard case .line(let beginning)? = Occasion(text) else { return false }
        let text = String(decoding: beginning, as: UTF8.self)
        lines = text.split(separator: "|", omittingEmptySubsequences: false).map { Array($0.utf8) }
        return !lines.contains([])
    }

    private mutating func takeReaction(_ text: String) -> Bool {
        let parts = text.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.count == 2, takeLines(parts[1]) else { return false }
        var words = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if rule.amount != .restraint {
            guard let time = SimulatorOption.time(words.removeFirst()) else { return false }
            self.time = time
        }
        if let word = words.first {
            guard words.count == 1, !word.isEmpty else { return false }
            command = Array(word.uppercased().utf8)
        }
        return true
    }

    /// Parses a list of expectations, separated by commas.
    ///
    /// - Throws: ``WrongPart`` for the first part that is invalid.
    static func expectations(_ text: String) throws(WrongPart) -> [HostExpectation] {
        var expectations: [HostExpectation] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            expectations.append(try HostExpectation(String(part)))
        }
        return expectations
    }
}

extension HostRule.Amount {
    /// Describes the value expected after `=`, in words that follow "takes".
    fileprivate func words(of name: String) -> String {
        switch self {
        case .nothing: "no value"
        case .time: "a time, e.g. \(name)=50ms"
        case .reaction: "a time, an optional command, and a line, e.g. \(name)=5s/OFF@line:ERROR"
        case .repetition: "a time, a command, and a line, e.g. \(name)=5s/OFF@line:PUMP:OFF"
        case .restraint: "a command, and a line, e.g. \(name)=ON@line:ERROR"
        case .line: "a line, e.g. \(name)=line:ERROR"
        }
    }
}
