/// The reason why nothing could be measured.
public enum LatencyError: Error, Sendable, Hashable {
    /// The device did not answer within the given time.
    case noAnswer(Duration)
    /// The device sent this line instead of an answer.
    case notUnderstood([UInt8])
}
