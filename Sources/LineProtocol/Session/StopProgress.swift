/// The results so far of a stop that is being repeated.
struct StopProgress {
    /// The number of attempts to send the stop.
    var count = 0
    /// Whether a stop may have reached the device.
    private(set) var mayHaveArrived = false
    /// Whether the device has acknowledged a stop.
    var isAcknowledged = false
    /// The unsafe state that the device's status named last; nil if none was read.
    var unsafeState: String?
    /// The number of consecutive errors in place of an acknowledgement.
    private var refusals = 0
    /// Whether the last answer came from a server that can't reach the device.
    private var isAway = false
    /// The error to report if the time ends before an acknowledgement or a status has come, or while a server can't
    /// reach the device.
    private var failure: SessionError

    init(_ command: String) { failure = SessionError(.noAnswer, command: command, outcome: .unknown) }

    /// Whether to query the status before the stop is sent again; false after the first sending without an
    /// acknowledgement, and while a server can't reach the device.
    ///
    /// Acknowledgements may get lost while errors arrive. So after an odd number of consecutive errors the stop is
    /// repeated at once, and after an even number the status is queried first.
    var asksForState: Bool { !isAway && refusals.isMultiple(of: 2) && (count > 1 || isAcknowledged) }

    /// Notes an acknowledgement.
    mutating func noteAcknowledgement() {
        (mayHaveArrived, isAcknowledged, refusals, isAway) = (true, true, 0, false)
        failure.code = .noAnswer
    }

    /// Notes the error of an attempt after which the stop is repeated.
    mutating func note(_ error: SessionError) {
        isAway = error.code == .deviceAway
        if isAway {
            mayHaveArrived = mayHaveArrived || error.outcome != .notSent
            failure = mayHaveArrived ? error.ofUnknownOutcome : error
            return
        }
        mayHaveArrived = true
        if error.code != .noAnswer {
            failure = error
        } else if failure.code == .deviceAway {
            failure.outcome = .unknown
        }
        refusals = error.code == .refused ? refusals + 1 : 0
    }

    /// Returns the error of a stop whose time is over.
    func failure(waited: Duration) -> SessionError {
        var error = failure
        error.waited = waited
        guard isAcknowledged || unsafeState != nil, error.code != .deviceAway else { return error }
        error = SessionError(
            !isAcknowledged ? .noAnswer : unsafeState == nil ? .unconfirmed : .notInEffect, command: error.command,
            outcome: .unknown, waited: waited)
        error.deviceState = unsafeState
        return error
    }
}
