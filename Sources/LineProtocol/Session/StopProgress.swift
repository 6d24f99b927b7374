/// The knowledge about a stop that is being repeated.
struct StopProgress {
    /// The number of times that it was sent.
    var count = 0
    /// Whether one that brought no answer may have reached the device.
    private(set) var mayHaveArrived = false
    /// Whether the device has acknowledged one.
    var isAcknowledged = false
    /// The state that the device's status names instead of a safe one; nil if none was read.
    var unsafeState: String?
    /// The number of errors that came in succession in place of an acknowledgement.
    private var refusals = 0
    /// Whether a server that shares the device said last that it can't reach it.
    private var isAway = false
    private var failure: SessionError

    init(_ command: String) { failure = SessionError(.noAnswer, command: command, outcome: .unknown) }

    /// Whether the status is requested before the stop is sent again.
    ///
    /// It may be the acknowledgement that gets lost, also among errors. Then only every second error sends the stop at once.
    var asksForState: Bool { !isAway && refusals.isMultiple(of: 2) && (count > 1 || isAcknowledged) }

    /// The device has acknowledged it.
    mutating func noteAcknowledgement() {
        (mayHaveArrived, isAcknowledged, refusals, isAway) = (true, true, 0, false)
        failure.code = .noAnswer
    }

    /// An attempt failed with an error behind which the stop is repeated.
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

    /// The error of a stop whose time is over.
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
