extension SessionError {
    /// The link failed at a command.
    ///
    /// - Parameters:
    ///   - error: How it failed: `cancelled` and `closed` stay what they are, anything else is `linkLost`.
    ///   - command: The command as it is written on the wire.
    ///   - outcome: What is known of the command's effect.
    public init(_ error: LinkError, at command: String, outcome: Outcome) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .closed: .closed
            default: .linkLost
            }
        self.init(code, command: command, outcome: outcome, link: error)
    }
}
