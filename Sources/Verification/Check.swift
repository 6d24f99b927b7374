/// A check of a firmware: a rule of docs/protocols.md, and a test of whether the firmware keeps it.
public struct Check: Sendable {
    /// A condition without which a check is skipped.
    public enum Need: String, Sendable, Hashable, CaseIterable {
        /// Permission to run the part that the device drives: ``VerificationOptions/mayRun``.
        case run
        /// Permission to send messages that the device stores permanently and passes on to other devices:
        /// ``VerificationOptions/maySend``.
        case send
        /// Physical access to the device, through a ``Stimulus``.
        case stimulus
    }

    typealias Body = @Sendable (Bench) async throws -> Void

    /// The permanent name of the check, such as `pump.speed.range-first`. The first word is the family's name.
    public let id: String
    /// The rule, as a link and a short text: `protocols.md#pump-20: the range is checked first`.
    public let rule: String
    /// The conditions without which the check is skipped.
    public let needs: Set<Need>

    let body: Body

    /// - Parameters:
    ///   - number: The number of the rule within its family.
    ///   - words: The text of the rule, or of the part under test.
    init(_ id: String, _ number: Int, _ words: String, needs: Set<Need> = [], _ body: @escaping Body) {
        self.id = id
        rule = Self.rule(of: String(id.prefix { $0 != "." }), number, words)
        self.needs = needs
        self.body = body
    }

    /// Returns the citation of a family's rule, as in ``rule``.
    static func rule(of family: String, _ number: Int, _ words: String) -> String {
        "protocols.md#\(family)-\(number): \(words)"
    }
}

/// Thrown by a check that fails: the behaviour that the rule demands, and the observed behaviour.
struct CheckFailure: Error {
    var expected: String
    var got: String
}

/// Thrown by a check that does not apply to this device or can't be decided, with the reason.
struct CheckSkip: Error { var reason: String }
