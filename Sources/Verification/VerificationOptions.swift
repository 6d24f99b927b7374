/// What a verification may do, and how long it waits.
public struct VerificationOptions: Sendable {
    /// Whether it may run what the device drives. Nobody may wear it then.
    public var mayRun = false
    /// Whether it may send messages that a device keeps for good, and passes on to others.
    public var maySend = false
    /// What the ids of such messages depend on: a device takes each id once.
    public var seed = UInt64.random(in: .min ... .max)
    /// How often all checks are made.
    public var rounds = 1
    /// How long each reply is waited for.
    public var timeout = Duration.seconds(1)
    /// How long OFF is repeated to a device that may run and does not acknowledge it: the pump's own 30 minutes.
    public var offLimit = Duration.seconds(1800)
    /// How long OFF is repeated to a device that acknowledges it and does not say that it is off: a minute with the usual
    /// timeout.
    var unsafeLimit: Duration { timeout * 60 }

    /// How whoever asks for the verification gives what a check needs, as an option: named where a check is skipped without.
    public var remedies: [Check.Need: String] = [:]

    /// A verification that runs nothing, once.
    public init() {}

    /// Why a check is skipped that needs what is not there: `needs a stimulus: --stimulus SOCKET`.
    func reason(_ words: String, _ need: Check.Need) -> String {
        words + (remedies[need].map { ": \($0)" } ?? "")
    }

    /// When no further check is begun. Without any leave, and with the usual timeout, 40 s for each round:
    /// what follows, and the check under way, have 5 s more.
    func limit(hasStimulus: Bool) -> Duration {
        timeout * (40 * rounds * (mayRun || maySend ? hasStimulus ? 6 : 3 : 1))
    }
}

/// Why a device is not tested at all. It was sent nothing but a question.
public enum VerificationError: Error, Sendable, Hashable {
    /// The pump runs: somebody may wear it.
    case running
    /// The pump was stopped for safety, and stands in a state that tells why.
    case stoppedForSafety
}

extension VerificationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .running: "the pump is running, and somebody may wear it: it was not tested"
        case .stoppedForSafety: "the pump was stopped for safety, and is in its error state: it was not tested"
        }
    }
}
