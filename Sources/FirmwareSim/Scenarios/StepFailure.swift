/// A step of a scenario that could not be done when its time had come.
public struct StepFailure: Sendable, Hashable {
    /// The step as it was written.
    public var step: String
    /// When, since the simulation began.
    public var time: Duration
    /// Why it could not be done.
    public var error: DeviceVerbError
}

extension StepFailure: CustomStringConvertible {
    public var description: String { "the step '\(step)' could not be done: \(error)" }
}
