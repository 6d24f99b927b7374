public import LineProtocol

/// Why a run of the pump ended before its time, or did not end as it should.
public struct PumpRunError: Error, Sendable {
    /// What has happened.
    public enum Cause: Sendable {
        /// ON was not sent.
        case notBegun(SessionError)
        /// The pump stood in its error state before, and refused to start.
        case latched(SessionError)
        /// The pump has stopped itself, and stands in its error state. The code is nil where it named none.
        case stoppedForSafety(PumpErrorCode?)
        /// The button on its lid has switched it off.
        case button
        /// It is off, and this run has not switched it off.
        case foundOff
        /// What it says of the wearer's skin can't be relied on.
        case skin(SkinFault, PumpStatus)
        /// The link was lost; the device came back, and was switched off.
        case lost(LinkError)
        /// It was not switched on as was asked for, or may not have been; or it did not answer any more while it ran.
        case failed(SessionError)
        /// It was not read to be off. Where the run had failed before, `after` says how.
        case offFailed(SessionError, after: SessionError?)
        /// The link was lost, and the device has not come back within the pump's own 30 minutes.
        case notBack(LinkError)
        /// The link was lost, and no device that comes can be known to be the same.
        case goneForGood(LinkError)

        /// Whether the pump is left as it is.
        var leavesPumpAlone: Bool {
            switch self {
            case .notBegun, .latched, .stoppedForSafety: true
            default: false
            }
        }
    }

    /// What is known of the pump behind the run.
    public enum Aftermath: Sendable, Hashable {
        /// It is as it was before.
        case untouched
        /// It stands still, in its error state, which tells why.
        case stoppedForSafety
        /// It was read to be off.
        case off
        /// It may be on.
        case perhapsOn
    }

    /// What has happened.
    public let cause: Cause

    /// What is known of the pump now.
    public var aftermath: Aftermath {
        switch cause {
        case .notBegun: .untouched
        case .latched, .stoppedForSafety: .stoppedForSafety
        case .button, .foundOff, .skin, .lost, .failed: .off
        case .offFailed, .notBack, .goneForGood: .perhapsOn
        }
    }

    /// An error of that cause.
    public init(_ cause: Cause) { self.cause = cause }
}

extension PumpRunError: CustomStringConvertible {
    public var description: String {
        switch cause {
        case .notBegun(let error): "ON was not sent: \(error)"
        case .latched(let error): "the pump refused to start: \(error)"
        case .stoppedForSafety(let code): "the pump was stopped for safety" + (code.map { ": \($0.rawValue)" } ?? "")
        case .button: "the pump was switched off by its button"
        case .foundOff: "the pump is off, and not by this program: its board was reset, or somebody has switched it off"
        case .skin(let fault, let status): "the pump was switched off: \(fault.text(of: status))"
        case .lost(let error): "\(error); the device is back, and the pump is off"
        case .failed(let error): "\(error); the pump is off"
        case .offFailed(let error, nil): "OFF failed: \(error); the pump may be on"
        case .offFailed(let error, let first?): "\(first); OFF failed: \(error); the pump may be on"
        case .notBack(let error): "\(error); the device has not come back, and the pump's own 30 minutes are over"
        case .goneForGood(let error): "\(error); the pump may be on"
        }
    }
}
