/// One row of what is tested: a statement of the protocol's page, and how a firmware is asked to keep it.
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
    /// The section of the protocol's page, and its words.
    public let paragraph: String
    /// What it can't do without.
    public let needs: Set<Need>

    let body: Body

    /// - Parameter paragraph: As `1, table: "no spaces are trimmed"`.
    init(_ id: String, _ paragraph: String, needs: Set<Need> = [], _ body: @escaping Body) {
        self.id = id
        self.paragraph = paragraph
        self.needs = needs
        self.body = body
    }
}

/// What a check has found wrong.
struct CheckFailure: Error {
    var expected: String
    var got: String
}

/// Why a check can't say anything about this device.
struct CheckSkip: Error { var reason: String }
