/// The permissions and time limits of a verification.
public struct VerificationOptions: Sendable {
    /// Whether the verification may run the part that the device drives. Allow it only if nobody wears the device.
    public var mayRun = false
    /// Whether the verification may send messages that a device stores permanently and passes on to other devices.
    public var maySend = false
    /// The seed for the ids of the messages that ``maySend`` allows. A device accepts each id once, so use a new seed
    /// for each verification. The default is random.
    public var seed = UInt64.random(in: .min ... .max)
    /// The number of times that all checks are made; at least 1.
    public var rounds = 1
    /// The time limit for each reply. The default is 1 s.
    public var timeout = Duration.seconds(1)
    /// The time for which OFF is repeated to a device that may run and does not acknowledge OFF. The default is 30
    /// minutes, the pump's own limit.
    public var offLimit = Duration.seconds(1800)
    /// The time for which OFF is repeated to a device that acknowledges OFF but does not report that it is off: one
    /// minute with the default timeout.
    var unsafeLimit: Duration { timeout * 60 }

    /// For each need, the caller's name of the option that satisfies it, such as `--stimulus SOCKET`. The reason of a
    /// skipped check contains this name.
    public var remedies: [Check.Need: String] = [:]

    /// Creates options for one round in which nothing is run or stored.
    public init() {}

    /// Returns the reason for which a check with an unmet need is skipped, such as `needs a stimulus: --stimulus
    /// SOCKET`.
    func reason(_ words: String, _ need: Check.Need) -> String {
        words + (remedies[need].map { ": \($0)" } ?? "")
    }

    /// The time after which no further check begins. Without permissions and with the default timeout it is 40 s times
    /// the number of rounds, so that one round usually ends within 45 s, with the device made safe. A permission makes
    /// it three times as long, a permission and a stimulus six times, because more checks are made.
    func limit(hasStimulus: Bool) -> Duration {
        timeout * (40 * rounds * (mayRun || maySend ? hasStimulus ? 6 : 3 : 1))
    }
}

/// The reason why a device is not tested at all. The device was sent nothing but queries.
public enum VerificationError: Error, Sendable, Hashable {
    /// The pump is running: somebody may wear it.
    case running
    /// The pump is in its error state, because it was stopped for safety. The verification does not end this state.
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
