/// Why nothing could be measured.
public enum LatencyError: Error, Sendable, Hashable {
    /// The device did not answer, for so long.
    case noAnswer(Duration)
    /// The device said this instead of an answer.
    case notUnderstood([UInt8])
}
