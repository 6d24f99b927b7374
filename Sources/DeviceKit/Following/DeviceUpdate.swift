public import LineProtocol
public import RecordFormat

/// An update of a ``DeviceMonitor``: an event, and the state of the device after it.
public struct DeviceUpdate<F: FollowedFamily>: Sendable {
    /// The kinds of events.
    public enum Event: Sendable {
        /// The device has reported its state.
        case status
        /// An unsolicited message: an event, an error or text.
        case heard(F.Message)
        /// A fault that a person must know of at once. Reported once, until a message shows that the fault is over.
        case alarm(Alarm)
        /// The query for the state has failed: no reply came in time, an unknown reply came, the device refused the
        /// query, or the daemon that shares the device can't reach the device.
        case unanswered(SessionError)
        /// The link is lost, and the monitor waits for the device.
        case lost(LinkError)
        /// The link is restored, and the device has reported its state if its family has a query for it. `before` is
        /// the last known state before the loss.
        case back(before: F.State)
    }

    /// The event.
    public var event: Event
    /// The known state; empty while the device does not answer or the link is lost.
    public var state: F.State
    /// Whether the link to the device is up.
    public var isLinkUp: Bool
    /// The time of the update by the system's clock. The update may be read later.
    public var time: RecordTime

    /// Creates an update from its parts.
    public init(event: Event, state: F.State, isLinkUp: Bool = true, time: RecordTime = .now) {
        self.event = event
        self.state = state
        self.isLinkUp = isLinkUp
        self.time = time
    }
}
