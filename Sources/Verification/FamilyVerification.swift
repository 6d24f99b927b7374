/// The checks of one family's firmware, and the steps that keep a device of the family safe before, between, and after
/// the checks. ``all`` contains one for each family.
public struct FamilyVerification: Sendable {
    /// The finding about a device before the first check.
    enum Readiness: Sendable {
        /// The device answers, and may be tested.
        case ready
        /// The device does not answer as it should. No check may be made.
        case unusable(CheckFailure)
    }

    /// The family's name, which is the first word of each ``Check/id``.
    public let family: String
    /// The checks, in the order in which they run.
    public let checks: [Check]

    /// Examines the device, in general with a query that changes nothing. Throws ``VerificationError`` if the device
    /// must not be tested.
    let begin: @Sendable (Bench) async throws -> Readiness
    /// Runs after each check that returned normally. Switches the part that the device drives off, if the check may
    /// have left it on. Throws ``CheckFailure``, which fails the check, if the device sent something unexpected, or is
    /// not off.
    let finish: @Sendable (Check, Bench) async throws -> Void
    /// Runs after a check that failed, or that needs ``Check/Need/run`` and skipped itself. Switches the part that the
    /// device drives off, if it may be on, and discards late lines. Returns false if no further check can be made, for
    /// example because the device no longer answers.
    let recover: @Sendable (Bench) async throws -> Bool
    /// Makes the device safe at the end, whatever ended the verification. Not called if the device received only
    /// queries and no action of the stimulus.
    let end: @Sendable (Bench) async -> Aftermath
    /// Returns whether a line may be unsolicited. Such a line is skipped while another line is expected.
    let isUnasked: @Sendable (String) -> Bool
    /// The unit into which bytes are cut, on a link that keeps no packet bounds.
    var framing = Framing.lines
    /// The name of the part that the device drives, for messages. Checks that run this part need ``Check/Need/run``.
    var driven = "the pump"
    /// Prerequisites: checks that must not have failed, and the checks that depend on them. A dependent that ends with
    /// a dot stands for all checks whose ids begin with this text. If a prerequisite failed in this round, its
    /// dependents would fail for the same reason, and are skipped.
    var basis: [(dependents: [String], checks: [String])] = []

    /// Returns the prerequisites of a check.
    func basis(of id: String) -> [String] {
        basis.filter { $0.dependents.contains { $0.hasSuffix(".") ? id.hasPrefix($0) : id == $0 } }.flatMap(\.checks)
            .filter { $0 != id }
    }

    /// All families that can be tested.
    public static let all: [FamilyVerification] = [.pump, .storm, .led, .peer, .rescue]

    /// Returns the verification of the family `name`; nil if there is none.
    public static func named(_ name: String) -> FamilyVerification? { all.first { $0.family == name } }
}

/// The state of a device after a verification, as far as it is known.
public enum Aftermath: Sendable, Hashable {
    /// The device received only queries, and nothing was done at it.
    case untouched
    /// The device reported that it is off.
    case safe
    /// No state of the device counts as unsafe, or the device is a peer, which was sent OFF if it may have been on. Its
    /// state was not queried.
    case harmless
    /// The device reported before the first check that it was off, and nothing that may start it was done. At the end
    /// it did not report that it is off, for the given reason.
    case unread(String)
    /// The device may be on: it did not confirm that it is off, for the given reason.
    case perhapsOn(String)
}
