/// The reason why a command did not get its reply.
public struct SessionError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The device refused the command; ``SessionError/deviceCode`` is its answer, such as the code after `ERROR:`.
        case refused
        /// No answer came in time.
        case noAnswer = "no_answer"
        /// Instead of an answer, other text came: see ``SessionError/foreignLine``.
        case notUnderstood = "not_understood"
        /// The link broke, or did not accept the command; ``SessionError/link`` is its error.
        case linkLost = "link_lost"
        /// The session was closed, or was never started.
        case closed
        /// The waiting task was cancelled, or the caller no longer wanted the command.
        case cancelled
        /// A stop, a command that makes the device safe, was requested before this command was sent or answered.
        case overtaken
        /// The device acknowledged the command, but its state could not be read afterwards.
        case unconfirmed
        /// The device acknowledged the command, but its status names another state: ``SessionError/deviceState``.
        case notInEffect = "not_in_effect"
        /// A server that shares the device can't reach it, and did not send the command. It may have sent an earlier
        /// attempt: see ``SessionError/outcome``.
        case deviceAway = "device_away"
    }

    /// The effect of the command on the device, as far as it is known.
    public enum Outcome: String, Sendable, Hashable {
        /// The command was not sent.
        case notSent = "not_sent"
        /// Nothing has changed, for example because the device refused the command, or the command was a query.
        case nothingChanged = "nothing_changed"
        /// The command, or a part of it, may have been sent. Whether it was carried out is unknown.
        case unknown
    }

    /// The kind of failure.
    public var code: Code
    /// The command as it is written on the wire, or a description if the caller has requested none.
    public var command: String
    /// The effect of the command, as far as it is known.
    public var outcome: Outcome
    /// The answer of a device that refused the command: the code after `ERROR:`, a peer's reason, or for ``Relayed``
    /// the whole line; nil if it did not refuse.
    public var deviceCode: String?
    /// The state, in the device's words, that its status named instead of the requested one; nil if no such status was
    /// read.
    public var deviceState: String?
    /// The error of the link; nil if the link did not fail.
    public var link: LinkError?
    /// The last line, or the pending part of one, that came instead of an answer; nil if there was none.
    public var foreignLine: [UInt8]?
    /// The time spent waiting for an answer that did not come; nil for most other failures.
    public var waited: Duration?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - command: The command as it is written on the wire.
    ///   - outcome: The effect of the command, as far as it is known.
    ///   - deviceCode: The answer of a device that refused the command, such as the code after `ERROR:`.
    ///   - link: The error of the link.
    ///   - foreignLine: The last line, or the pending part of one, that came instead of an answer.
    ///   - waited: The time spent waiting for the answer.
    public init(
        _ code: Code, command: String, outcome: Outcome, deviceCode: String? = nil, link: LinkError? = nil,
        foreignLine: [UInt8]? = nil, waited: Duration? = nil
    ) {
        self.code = code
        self.command = command
        self.outcome = outcome
        self.deviceCode = deviceCode
        self.link = link
        self.foreignLine = foreignLine
        self.waited = waited
    }
}

extension SessionError {
    /// Returns the error of a query that was sent twice, from the error of the second attempt. The waiting time and an
    /// undefined line of the first attempt are included.
    func following(_ first: SessionError) -> SessionError {
        var error = self
        error.waited = (first.waited ?? .zero) + (waited ?? .zero)
        if error.foreignLine == nil, let line = first.foreignLine {
            error.code = .notUnderstood
            error.foreignLine = line
        }
        return error
    }
}

extension SessionError {
    /// Whether no answer to the command was recognized, although the link is up.
    var isSilence: Bool { code == .noAnswer || code == .notUnderstood }

    /// The same error for a command that an earlier attempt had sent, so that the outcome is unknown.
    var ofUnknownOutcome: SessionError {
        var error = self
        error.outcome = .unknown
        return error
    }
}

extension SessionError: CustomStringConvertible {
    public var description: String {
        switch code {
        case .refused: "the device refused \(command): \(deviceCode ?? "")"
        case .noAnswer: "no answer to \(command)" + (deviceState.map { ", and its status says \($0)" } ?? "")
        case .notUnderstood: "unexpected reply to \(command)"
        case .linkLost: "the link broke at \(command): \(link?.description ?? "")"
        case .closed: "the session was closed during \(command)"
        case .cancelled: "\(command) was cancelled"
        case .overtaken: "\(command) was dropped: a stop was requested"
        case .unconfirmed: "the device acknowledged \(command); its state could not be read"
        case .notInEffect: "the device acknowledged \(command), but its status says \(deviceState ?? "")"
        case .deviceAway: "\(command) failed: the server that shares the device can't reach it"
        }
    }
}
