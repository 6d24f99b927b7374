/// What is tested of the firmware of one family. Every list of checks follows from these rows.
public struct FamilyVerification: Sendable {
    /// What is known of a device before the first check.
    enum Readiness: Sendable {
        case ready
        /// It does not answer as it should; nothing else may be sent to it.
        case unusable(CheckFailure)
    }

    /// The family's name, with which the ``Check/id`` of each check begins.
    public let family: String
    /// In the order in which they run.
    public let checks: [Check]

    /// Looks at the device, by a question that changes nothing.
    let begin: @Sendable (Bench) async throws -> Readiness
    /// Called behind each check that has not failed: what came too much makes it fail, and the device is put back.
    let finish: @Sendable (Check, Bench) async throws -> Void
    /// Puts the device back behind a check that has failed; false where it does not answer any more.
    let recover: @Sendable (Bench) async throws -> Bool
    /// Makes the device safe at the end, however the end came.
    let end: @Sendable (Bench) async -> Aftermath
    /// Whether a line may come unasked, so that no reply contains it.
    let isUnasked: @Sendable (String) -> Bool
    /// What comes over a link without packet bounds.
    var framing = Framing.lines
    /// What nobody may be near while it runs.
    var driven = "the pump"
    /// Which checks must not have failed, by the names of those that rest on them; a name with a dot at its end stands for all
    /// that begin so. One that rests on a check which failed in this round would fail for the same reason, and is skipped.
    var basis: [(dependents: [String], checks: [String])] = []

    /// The checks that a check rests on.
    func basis(of id: String) -> [String] {
        basis.filter { $0.dependents.contains { $0.hasSuffix(".") ? id.hasPrefix($0) : id == $0 } }.flatMap(\.checks)
            .filter { $0 != id }
    }

    /// All families that can be tested.
    public static let all: [FamilyVerification] = [.pump, .storm, .led, .peer, .rescue]

    /// The row of the family of that name; nil where there is none.
    public static func named(_ name: String) -> FamilyVerification? { all.first { $0.family == name } }
}

/// What is known of the device behind a verification.
public enum Aftermath: Sendable, Hashable {
    /// It was only asked.
    case untouched
    /// It was read to be off, or as it was before.
    case safe
    /// It drives nothing that could be on.
    case harmless
    /// It was read to be off before it was sent anything, and was sent no ON. Whether it is off now was not read, for that
    /// reason.
    case unread(String)
    /// It has not acknowledged to be off, for that reason.
    case perhapsOn(String)
}
