public import LineProtocol

/// The reason that a run of the pump ended early, or that the pump may still be on after the run.
public struct PumpRunError: Error, Sendable {
    /// The kinds of causes.
    public enum Cause: Sendable {
        /// ON was not sent.
        case notBegun(SessionError)
        /// The pump was in its error state before, and refused to start.
        case latched(SessionError)
        /// The pump has stopped itself and is in its error state. The code is nil if the pump named none.
        case stoppedForSafety(PumpErrorCode?)
        /// The pump was switched off with the button on its lid.
        case button
        /// The pump is off, although this run did not switch it off.
        case foundOff
        /// The reported skin temperature of the wearer can't be relied on.
        case skin(SkinFault, PumpStatus)
        /// The link was lost. The device came back and was switched off.
        case lost(LinkError)
        /// A command at the beginning of the run failed, perhaps ON itself, or the pump stopped answering during the
        /// run. The pump was then switched off.
        case failed(SessionError)
        /// The pump has not confirmed that it is off. `after` is the failure that ended the run; nil if the run ended
        /// for another reason.
        case offFailed(SessionError, after: SessionError?)
        /// The link was lost, and the pump could not be switched off over a new link within its own 30 minutes.
        case notBack(LinkError)
        /// The link was lost, and no returning device can be identified as the same one.
        case goneForGood(LinkError)

        /// Whether the run leaves the pump as it is.
        var leavesPumpAlone: Bool {
            switch self {
            case .notBegun, .latched, .stoppedForSafety: true
            default: false
            }
        }
    }

    /// The known state of the pump after the run.
    public enum Aftermath: Sendable, Hashable {
        /// The pump is unchanged, because ON was not sent.
        case untouched
        /// The pump has stopped in its error state, which shows the reason.
        case stoppedForSafety
        /// The pump has confirmed that it is off.
        case off
        /// The pump may be on.
        case perhapsOn
    }

    /// The cause of the failure.
    public let cause: Cause

    /// The known state of the pump now.
    public var aftermath: Aftermath {
        switch cause {
        case .notBegun: .untouched
        case .latched, .stoppedForSafety: .stoppedForSafety
        case .button, .foundOff, .skin, .lost, .failed: .off
        case .offFailed, .notBack, .goneForGood: .perhapsOn
        }
    }

    /// Creates an error with a cause.
    public init(_ cause: Cause) { self.cause = cause }
}

extension PumpRunError: CustomStringConvertible {
    public var description: String {
        switch cause {
        case .notBegun(let error): "ON was not sent: \(error)"
        case .latched(let error): "the pump refused to start: \(error)"
        case .stoppedForSafety(let code): "the pump was stopped for safety" + (code.map { ": \($0.rawValue)" } ?? "")
        case .button: "the pump was switched off by its button"
        case .foundOff: "the pump is off: its board was reset, or another program or person switched it off"
        case .skin(let fault, let status): "the pump was switched off: \(fault.text(of: status))"
        case .lost(let error): "\(error); the device is back, and the pump is off"
        case .failed(let error): "\(error); the pump is off"
        case .offFailed(let error, nil): "OFF failed: \(error); the pump may be on"
        case .offFailed(let error, let first?): "\(first); OFF failed: \(error); the pump may be on"
        case .notBack(let error): "\(error); the pump could not be switched off, and its own 30 minutes are over"
        case .goneForGood(let error): "\(error); the pump may be on"
        }
    }
}
