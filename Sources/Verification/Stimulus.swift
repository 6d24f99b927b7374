/// Hands at a device: they do what nobody can do over its link.
///
/// The verbs are those of `pumpctl sim ctl`: `press`, `turn POSITION`, `temperature PROBE CELSIUS`, `advance TIME`, `reset`.
public protocol Stimulus: Sendable {
    /// Does something to the device, and returns once it was done.
    func perform(_ verb: String, _ arguments: [String]) async throws

    /// What can be seen of the device now, by keys, as `true` or `12`. Nothing, unless it says otherwise.
    func state() async throws -> [String: String]
}

extension Stimulus {
    public func state() async throws -> [String: String] { [:] }
}
