import DeviceKit
import LineProtocol

extension Failure {
    /// OFF was not acknowledged.
    ///
    /// - Parameter place: Where the pump is.
    init(off error: SessionError, at place: DevicePlace? = nil) {
        self.init(error, .pump, at: place, unknownEffect: "the pump may be on")
        if error.code == .noAnswer || error.code == .notUnderstood || error.code == .refused { hint = Self.offHint }
    }

    private static let offHint = "switch the pump off by its button or its supply, then find out why: pumpctl doctor"

    /// The failure of an OFF that was not sent, which says so.
    var sayingOffWasNotSent: Failure {
        guard outcome == nil || outcome == SessionError.Outcome.notSent.rawValue, code != "wrong_family" else {
            return self
        }
        var failure = self
        failure.message += "; OFF was not sent: the pump may be on"
        failure.outcome = SessionError.Outcome.notSent.rawValue
        failure.mustBeSaid = true
        return failure
    }
}
