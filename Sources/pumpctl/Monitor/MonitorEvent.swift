import LineProtocol

/// What a monitor has to attend to.
enum MonitorEvent: Sendable {
    /// The pump has answered the question for its state, or has not.
    case polled(Result<PumpStatus, SessionError>)
    /// Something has happened on the link unasked.
    case happened(SessionEvent<PumpMessage>)
    /// The device is back.
    case reopened(any Link)
    /// The device can't come back.
    case reopeningFailed(any Error)
    /// The time that was asked for is over.
    case timeIsUp
    /// Something to show on the side.
    case note(String)
}
