/// A scenario step that could not be performed when its occasion had come.
public struct StepFailure: Sendable, Hashable {
    /// The step as typed.
    public var step: String
    /// The instant of the attempt, since the simulation began.
    public var time: Duration
    /// The reason.
    public var error: DeviceVerbError
}

extension StepFailure: CustomStringConvertible {
    public var description: String { "the step '\(step)' failed: \(error)" }
}
