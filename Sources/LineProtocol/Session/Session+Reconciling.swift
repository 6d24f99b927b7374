/// Finding out what has become of a command that brought no reply.
extension Session {
    /// Asks the device for its state where a command has put it in doubt. ``state`` has it then.
    ///
    /// - Parameters:
    ///   - error: What the command threw.
    ///   - timeout: How long to wait for the answer.
    /// - Returns: What the device answers to ``DeviceFamily/statusQuery``. Nil where nothing is in doubt, where the command
    ///   was cancelled or the link is lost, and where no answer comes.
    public func reconcile(after error: SessionError, timeout: Duration = defaultTimeout) async -> Family.Reply? {
        guard error.outcome == .unknown, error.code != .cancelled, let query = Family.statusQuery else { return nil }
        return try? await perform(query, timeout: timeout)
    }
}
