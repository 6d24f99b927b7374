/// Hands at a device: they do what nobody can do over its link.
///
/// The verbs are those of `pumpctl sim ctl`: `press`, `turn POSITION`, `temperature PROBE CELSIUS`, `advance TIME`, `reset`.
public protocol Stimulus: Sendable {
    /// Does something to the device, and returns once it was done.
    func perform(_ verb: String, _ arguments: [String]) async throws
}
