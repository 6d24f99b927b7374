import LineProtocol

/// One thing that a monitor has to tell: what has happened, and what is known of the pump after it.
struct MonitorUpdate {
    /// What has happened.
    enum Event: String {
        /// The pump has told its state.
        case status
        /// The button on its lid was pressed.
        case manual
        /// What it says of the wearer's skin can't be relied on while it runs.
        case sensorFault = "sensor_fault"
        /// It has reported an error.
        case error
        /// It said something that tells nothing of its state.
        case text
        /// It did not answer in time.
        case noAnswer = "no_answer"
        /// What it answered is nothing that the protocol knows.
        case notUnderstood = "not_understood"
        /// It answered the question for its state by an error.
        case refused
        /// The link is lost.
        case lost
        /// The link is there again.
        case back
    }

    var event: Event
    /// What was said, or how it went wrong.
    var text: String?
    /// What is known; nothing while the pump does not answer, however well its state was known before.
    var state: PumpState
    var isLinkUp: Bool
    var time = WallTime.now
}
