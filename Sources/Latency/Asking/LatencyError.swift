/// The reason why a measurement failed, apart from a failed link.
public enum LatencyError: Error, Sendable, Hashable {
    /// The device did not answer within the given time, or no longer answered.
    case noAnswer(Duration)
    /// No answer could be measured; the device sent this line last.
    case notUnderstood([UInt8])
}
