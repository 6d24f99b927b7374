public import LineProtocol

/// The findings of a verification.
public struct FirmwareVerdict: Sendable {
    /// The reason why a verification ended.
    public enum Ending: Sendable {
        /// Every check was made, or skipped for a reason of its own.
        case complete
        /// The device does not answer as it should, so no further check was made.
        case unusable
        /// The time limit for all checks was reached.
        case timeIsUp
        /// The task was cancelled.
        case interrupted
        /// The link broke.
        case lost(LinkError)
        /// The stimulus failed with the given error.
        case stimulusFailed(any Error)
    }

    /// The results of all checks, in order.
    public package(set) var results: [CheckResult] = []
    /// The times that the checks measured.
    public internal(set) var timings = Timings()
    /// The reason why the verification ended.
    public internal(set) var ending = Ending.complete
    /// The state of the device at the end, as far as it is known.
    public internal(set) var aftermath = Aftermath.untouched

    package init() {}

    /// The number of checks that failed.
    public var failedCount: Int { results.count { $0.isFailure } }
    /// The number of checks that passed.
    public var passedCount: Int { results.count { $0.outcome == .passed } }
    /// The number of checks that were skipped.
    public var skippedCount: Int { results.count - failedCount - passedCount }

    /// Whether no check failed, and the verification was not cut short.
    public var isPassed: Bool {
        if case .complete = ending { failedCount == 0 } else { false }
    }
}
