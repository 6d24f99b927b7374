/// Clears up the outcome of a command that got no reply.
extension Session {
    /// Queries the device's state if the outcome of a command is unknown. Updates ``state`` with the answer.
    ///
    /// - Parameters:
    ///   - error: The error of the command.
    ///   - timeout: The time limit for the answer.
    /// - Returns: The reply to ``DeviceFamily/statusQuery``; nil if the outcome is known, if the command was cancelled,
    ///   or if the query fails or does not exist.
    public func reconcile(after error: SessionError, timeout: Duration = defaultTimeout) async -> Family.Reply? {
        guard error.outcome == .unknown, error.code != .cancelled, let query = Family.statusQuery else { return nil }
        return try? await perform(query, timeout: timeout)
    }
}
