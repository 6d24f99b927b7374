/// Why a command did not bring its reply.
public struct SessionError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The device answered `ERROR:…`; ``SessionError/deviceCode`` says which.
        case refused
        /// Nothing that answers the command came in time.
        case noAnswer = "no_answer"
        /// Something came in time, but nothing that the protocol knows.
        case notUnderstood = "not_understood"
        /// The link broke; ``SessionError/link`` says how.
        case linkLost = "link_lost"
        /// The session was closed.
        case closed
        /// The task that waited was cancelled.
        case cancelled
        /// A command that makes the device safe went before it.
        case overtaken
        /// A change was acknowledged, and the device's state could not be read behind it.
        case unconfirmed
        /// A change was acknowledged, and the device's status names another state:
        /// ``SessionError/deviceState``.
        case notInEffect = "not_in_effect"
        /// A server that shares the device can't reach it, and has not sent the command.
        case deviceAway = "device_away"
    }

    /// What is known of the command's effect on the device.
    public enum Outcome: String, Sendable, Hashable {
        /// The command was not sent.
        case notSent = "not_sent"
        /// The device has refused it, or it only asked: nothing has changed.
        case nothingChanged = "nothing_changed"
        /// It was sent, and may have been carried out or not.
        case unknown
    }

    /// The kind of failure.
    public var code: Code
    /// The command as it is written on the wire; in words before the session has sent one.
    public var command: String
    /// What is known of the command's effect.
    public var outcome: Outcome
    /// What the device answered behind `ERROR:`.
    public var deviceCode: String?
    /// The state that the device's status named behind a change.
    public var deviceState: String?
    /// How the link broke.
    public var link: LinkError?
    /// The last line, or the pending part of one, that the protocol does not know.
    public var foreignLine: [UInt8]?
    /// How long the answer was waited for.
    public var waited: Duration?

    /// An error of the given kind.
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
    /// The error of a query that was sent twice, from that of the second time: what was heard, and how long was waited,
    /// counts from the first.
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
    /// Whether the link is there, and nothing came that answers the command.
    var isSilence: Bool { code == .noAnswer || code == .notUnderstood }

    /// The error of a command that was sent before this attempt failed.
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
        case .closed: "the session was closed at \(command)"
        case .cancelled: "\(command) was cancelled"
        case .overtaken: "\(command) was dropped: a stop was requested"
        case .unconfirmed: "the device acknowledged \(command); its state could not be read"
        case .notInEffect: "the device acknowledged \(command), but its status says \(deviceState ?? "")"
        case .deviceAway: "\(command) was not sent: the server that shares the device can't reach it"
        }
    }
}
