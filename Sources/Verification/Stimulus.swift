/// Physical access to a device: actions and observations that its link does not offer.
///
/// The verbs are the same as in `pumpctl sim ctl`, for a pump for example `press`, `turn POSITION`,
/// `temperature PROBE CELSIUS`, and `advance TIME`.
public protocol Stimulus: Sendable {
    /// Performs an action at the device, and returns when it is done.
    ///
    /// - Parameters:
    ///   - verb: The name of the action, such as `turn`.
    ///   - arguments: The arguments of the action, such as `0.5`.
    /// - Throws: Any error, which ends the verification.
    func perform(_ verb: String, _ arguments: [String]) async throws

    /// Returns the visible state of the device: texts such as `true` or `12`, by their keys. The default implementation
    /// returns no keys; checks that need one are then skipped.
    func state() async throws -> [String: String]
}

extension Stimulus {
    public func state() async throws -> [String: String] { [:] }
}
