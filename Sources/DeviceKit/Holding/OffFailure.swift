public import LineProtocol

/// The reason that a device is not known to be off, for the program that has requested OFF.
public struct OffFailure: Error, Sendable, Hashable {
    /// The exit status of a command with this failure, as in docs/exit-codes.md; never 0.
    public var status: Int32
    /// The kind of failure, as a stable word for programs.
    public var code: String
    /// The failure in one sentence without a full stop.
    public var message: String
    /// Advice for the user; nil if there is none.
    public var hint: String?
    /// The outcome of OFF, as the raw value of a `SessionError.Outcome`; nil if none was transmitted.
    public var outcome: String?
    /// The device's error code, the text after `ERROR:`; nil if the device reported no error.
    public var deviceCode: String?

    /// Creates a failure from its parts.
    public init(
        status: Int32, code: String, message: String, hint: String? = nil, outcome: String? = nil,
        deviceCode: String? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.outcome = outcome
        self.deviceCode = deviceCode
    }
}

extension OffFailure {
    /// Describes a problem.
    ///
    /// - Parameters:
    ///   - problem: The problem.
    ///   - words: Returns the text that a user types for a command of the family.
    public init(_ problem: OffProblem, words: (_ command: String) -> String = { $0 }) {
        switch problem.cause {
        case .noStop:
            let reason = problem.family.reasonForNoStop { "'\(words($0))'" } ?? "no command stops it"
            self.init(
                status: 69, code: "no_stop",
                message: "\(problem.name) is in use as a device that has no OFF: \(reason)", outcome: "not_sent")
        case .session(let error):
            let status: Int32 =
                switch error.code {
                case .refused: 1
                case .noAnswer, .unconfirmed: 75
                case .notUnderstood, .notInEffect: 76
                case .linkLost: 74
                case .deviceAway: 66
                case .closed, .cancelled, .overtaken: 130
                }
            self.init(
                status: status, code: error.code.rawValue,
                message: "\(problem.name): \(error); the \(problem.family == .pump ? "pump" : "device") may be on",
                outcome: error.outcome.rawValue,
                deviceCode: error.deviceCode)
        }
    }
}

/// The reason that an attempt to switch a device off has failed.
public struct OffProblem: Sendable {
    /// The kinds of causes.
    public enum Cause: Sendable {
        /// The family has no command that makes a device safe.
        case noStop
        /// OFF was not sent, or the device has not confirmed that it is off.
        case session(SessionError)
    }

    /// The cause of the problem.
    public var cause: Cause
    /// The family of the device.
    public var family: Family
    /// The name of the link.
    public var name: String

    init(_ cause: Cause, _ family: Family, at name: String) {
        self.cause = cause
        self.family = family
        self.name = name
    }
}
