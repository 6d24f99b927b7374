/// One row of what is tested: a rule of docs/protocols.md, and how a firmware is asked to keep it.
public struct Check: Sendable {
    /// What a check can't do without.
    public enum Need: String, Sendable, Hashable, CaseIterable {
        /// Leave to run what the device drives: ``VerificationOptions/mayRun``.
        case run
        /// Leave to send what is kept for good and passed on to others: ``VerificationOptions/maySend``.
        case send
        /// Hands at the device: a ``Stimulus``.
        case stimulus
    }

    typealias Body = @Sendable (Bench) async throws -> Void

    /// What it is called, for good: `pump.speed.range-first`. The first word is the family's name.
    public let id: String
    /// The rule, as a link to it and its words: `protocols.md#pump-20: the range is checked first`.
    public let rule: String
    /// What it can't do without.
    public let needs: Set<Need>

    let body: Body

    /// - Parameters:
    ///   - number: Which rule of the family it is.
    ///   - words: What the rule says of this, in a clause.
    init(_ id: String, _ number: Int, _ words: String, needs: Set<Need> = [], _ body: @escaping Body) {
        self.id = id
        rule = Self.rule(of: String(id.prefix { $0 != "." }), number, words)
        self.needs = needs
        self.body = body
    }

    /// A rule of a family as it is cited.
    static func rule(of family: String, _ number: Int, _ words: String) -> String {
        "protocols.md#\(family)-\(number): \(words)"
    }
}

/// What a check has found wrong.
struct CheckFailure: Error {
    var expected: String
    var got: String
}

/// Why a check can't say anything about this device.
struct CheckSkip: Error { var reason: String }
