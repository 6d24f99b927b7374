public import LineProtocol
public import RecordFormat

/// One thing that a ``PumpMonitor`` has to tell: what has happened, and what is known of the pump behind it.
public struct PumpUpdate: Sendable {
    /// What has happened.
    public enum Event: Sendable {
        /// The pump has told its state.
        case status
        /// The button on its lid was pressed, and has switched it on or off.
        case manual(isOn: Bool)
        /// What it says of the wearer's skin can't be relied on while it runs. Told once for each fault.
        case sensorFault(SkinFault, PumpStatus)
        /// It has reported an error.
        case error(PumpErrorCode)
        /// It said something that tells nothing of its state: a line, without its end.
        case text([UInt8])
        /// It did not answer the question for its state in time, refused it, or gave an answer that the protocol does not know.
        case unanswered(SessionError)
        /// The link is lost; nil where it was closed without an error. The device is waited for.
        case lost(LinkError?)
        /// The link is there again, and the pump has told its state. `before` is what was known when the link was lost.
        case back(before: PumpState)
    }

    /// What has happened.
    public var event: Event
    /// What is known; nothing while the pump does not answer, however well its state was known before.
    public var state: PumpState
    /// Whether there is a link to the pump.
    public var isLinkUp: Bool
    /// When it was made, by the system's clock: its reader may come to it later.
    public var time: RecordTime

    /// An update of those parts, made now unless `time` says otherwise.
    public init(event: Event, state: PumpState, isLinkUp: Bool = true, time: RecordTime = .now) {
        self.event = event
        self.state = state
        self.isLinkUp = isLinkUp
        self.time = time
    }
}
