public import LineProtocol
public import RecordFormat

/// One thing that a ``DeviceMonitor`` has to tell: what has happened, and what is known of the device behind it.
public struct DeviceUpdate<F: FollowedFamily>: Sendable {
    /// What has happened.
    public enum Event: Sendable {
        /// The device has told its state.
        case status
        /// It said this unasked: an event, an error, or text.
        case heard(F.Message)
        /// Something is wrong that a person must be told of at once. Told once for each fault.
        case alarm(Alarm)
        /// It did not answer the question for its state in time, refused it, or gave an answer that the protocol does not know.
        case unanswered(SessionError)
        /// The link is lost: the device is waited for.
        case lost(LinkError)
        /// The link is there again, and the device has told its state. `before` is what was known when the link was lost.
        case back(before: F.State)
    }

    /// What has happened.
    public var event: Event
    /// What is known; nothing while the device does not answer, however well its state was known before.
    public var state: F.State
    /// Whether there is a link to the device.
    public var isLinkUp: Bool
    /// When it was made, by the system's clock: its reader may come to it later.
    public var time: RecordTime

    /// An update of those parts, made now unless `time` says otherwise.
    public init(event: Event, state: F.State, isLinkUp: Bool = true, time: RecordTime = .now) {
        self.event = event
        self.state = state
        self.isLinkUp = isLinkUp
        self.time = time
    }
}
