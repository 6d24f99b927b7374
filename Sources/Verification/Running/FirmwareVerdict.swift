public import LineProtocol

/// What a verification has found.
public struct FirmwareVerdict: Sendable {
    /// Why it came to its end.
    public enum Ending: Sendable {
        /// Every check was made or skipped.
        case complete
        /// The device does not answer, or not in a way that more may be sent.
        case unusable
        /// The time for all checks was over.
        case timeIsUp
        /// The task was cancelled.
        case interrupted
        /// The link broke.
        case lost(LinkError)
        /// The stimulus failed, for that reason.
        case stimulusFailed(any Error)
    }

    public package(set) var results: [CheckResult] = []
    public internal(set) var timings = Timings()
    public internal(set) var ending = Ending.complete
    /// What is known of the device now.
    public internal(set) var aftermath = Aftermath.untouched

    package init() {}

    public var failedCount: Int { results.count { $0.isFailure } }
    public var passedCount: Int { results.count { $0.outcome == .passed } }
    public var skippedCount: Int { results.count - failedCount - passedCount }

    /// Whether no check has failed, and none was left out for want of time.
    public var isPassed: Bool {
        if case .complete = ending { failedCount == 0 } else { false }
    }
}
