import DeviceKit
import LineProtocol

extension Failure {
    /// The instruction to stop a pump that no command reaches. The button toggles: pressing it while the pump is off
    /// starts the pump.
    static let offByHand =
        "switch off the supply of the pump; or press its button, which toggles, but only while you see or hear it run"

    /// The instruction to stop the pump if OFF can't be sent.
    private static let supply = "if the pump runs, switch off its supply"

    /// The hint if another OFF may succeed.
    private static let offAgain = "repeat it: pumpctl off; if that fails, \(offByHand)"

    /// Creates the failure for an error of OFF: the pump did not confirm that it is off.
    ///
    /// - Parameter place: The place of the pump; nil if it is unknown or already stated.
    init(off error: SessionError, at place: DevicePlace? = nil) {
        if error.code == .deviceAway {
            self.init(deviceAwayAt: place)
            outcome = error.outcome.rawValue
            if error.outcome == .unknown { message += "; the pump may be on" }
            hint = "plug the device in again; \(Self.supply)"
            return
        }
        self.init(error, .pump, at: place, unknownEffect: "the pump may be on")
        switch error.code {
        case .noAnswer, .notUnderstood, .refused:
            hint = Self.offByHand
            if let inquiry = place.map(\.inquiry) ?? "pumpctl doctor" { hint? += "; then find the cause: \(inquiry)" }
        case .unconfirmed: hint = Self.offAgain
        case .linkLost: hint = [hint, Self.offAgain].compactMap(\.self).joined(separator: "; then ")
        case .notInEffect: hint = Self.offByHand
        default: break
        }
    }

    /// Creates the failure for an error of ``CommandContext/switchPumpOff(lastWords:)``. In most cases, the message
    /// says that the pump may be on. Returns nil for an error of an unexpected type.
    init?(offFailing error: any Error, at place: DevicePlace?) {
        switch error {
        case let failure as Failure: self = failure
        case let error as LinkError:
            self.init(error)
            // `--timeout` does not limit the opening of a link for OFF, so a longer time-out would not help.
            if error.code == .timedOut, error.hint == nil {
                hint = "find the cause: pumpctl doctor \(error.name.asWord)"
            }
            if error.code == .busy { hint = hint.map { "\($0); then repeat it: pumpctl off" } }
            if !error.isMistyped {
                hint = [hint, Self.supply].compactMap(\.self).joined(separator: "; ")
            }
        case let error as SessionError: self.init(off: error, at: place)
        case let error as OffByOtherError: self.init(error)
        case is CancellationError:
            // Another pumpctl may already have been asked to send OFF.
            self.init(
                .interrupted, code: "cancelled", "interrupted; the pump may be on", hint: "repeat it: pumpctl off",
                outcome: "unknown")
            mustBeSaid = true
        default: return nil
        }
        // Before OFF was sent, the outcome is nil or `not_sent`. A device of another family has no pump that may be on.
        guard outcome == nil || outcome == SessionError.Outcome.notSent.rawValue, code != "wrong_family" else { return }
        sayThatOffWasNotSent()
    }

    /// Adds to the message that the pump may be on, because OFF was not sent.
    mutating func sayThatOffWasNotSent() {
        message += "; OFF was not sent: the pump may be on"
        outcome = SessionError.Outcome.notSent.rawValue
        mustBeSaid = true
    }

    /// Creates the failure for a device that another program has and could not switch off.
    private init(_ error: OffByOtherError) {
        self.init(error.failure)
        message = "\(error.holder.map { "\($0)" } ?? "another pumpctl") has the device: \(message)"
        guard status == .unavailable else { return }
        // Don't advise to kill that program, which may be sending OFF right now.
        hint = Self.offAgain
        if error.isHolderStopped, let process = error.holder?.processID {
            hint = "resume it: kill -CONT \(process); then \(Self.offAgain)"
        } else if code == "no_stop" {
            // The program uses the device as one of a family without OFF.
            hint = "end that program where it was started; then \(Self.offAgain)"
        }
    }
}

extension LinkError {
    /// Whether the endpoint must be changed, rather than the device made reachable.
    fileprivate var isMistyped: Bool {
        [.invalidEndpoint, .ambiguous, .changedDevice, .wrongFamily, .unfit, .unsupported].contains(code)
    }
}
