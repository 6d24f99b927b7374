public import LineProtocol

/// Why a device is not known to be off, as one program tells another.
public struct OffFailure: Error, Sendable, Hashable {
    /// What a command ends with that fails so: 1, or a status of sysexits.h; never 0.
    public var status: Int32
    /// What went wrong, as a stable word for programs.
    public var code: String
    /// What went wrong, in one sentence without a full stop.
    public var message: String
    /// What to do about it.
    public var hint: String?
    /// What became of OFF: a ``LineProtocol/SessionError/Outcome``.
    public var outcome: String?
    /// What the device answered behind `ERROR:`.
    public var deviceCode: String?

    /// A failure of those parts.
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
    /// A problem in plain words.
    ///
    /// - Parameter words: How a command of the family is typed.
    public init(_ problem: OffProblem, words: (_ command: String) -> String = { $0 }) {
        switch problem.cause {
        case .noStop:
            let reason = problem.family.reasonForNoStop { "'\(words($0))'" } ?? "it has none"
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
                message: "\(problem.name): \(error); \(problem.family.device) may be on",
                outcome: error.outcome.rawValue,
                deviceCode: error.deviceCode)
        }
    }
}

/// Why a device could not be switched off over a link that somebody holds.
public struct OffProblem: Sendable {
    /// What is in the way.
    public enum Cause: Sendable {
        /// The family has no command that makes a device safe.
        case noStop
        /// The device has not acknowledged it.
        case session(SessionError)
    }

    /// What is in the way.
    public var cause: Cause
    /// What the device is.
    public var family: Family
    /// What its link is called.
    public var name: String

    init(_ cause: Cause, _ family: Family, at name: String) {
        self.cause = cause
        self.family = family
        self.name = name
    }
}
