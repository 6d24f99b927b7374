extension SessionError {
    /// Creates the error of a command during which the link failed.
    ///
    /// - Parameters:
    ///   - error: The failure of the link. `cancelled` and `closed` keep their codes; all others become `linkLost`.
    ///   - command: The command as it is written on the wire.
    ///   - outcome: The effect of the command, as far as it is known.
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
