/// A report about a shared device, for a log. Text from clients and devices in the report is not escaped.
public struct SharingReport: Sendable, Hashable {
    /// The device's name.
    public var device: String
    /// The reported event.
    public var event: Event

    /// Creates a report.
    public init(device: String, _ event: Event) {
        self.device = device
        self.event = event
    }

    /// An event of a shared device. `for` and `by` name the client or program that sent the line; `poll` stands for the
    /// question that is asked at intervals for all programs that poll the device.
    public enum Event: Sendable, Hashable {
        /// The link with this name is open.
        case up(_ link: String)
        /// The link is lost. It is reopened when the device is back and the link is needed.
        case lost(_ reason: String)
        /// The link could not be opened. Opening is tried again.
        case notOpened(_ reason: String, _ hint: String?)
        /// The device seems not to be of the assumed family: this line is not a reply of that family.
        case notOfFamily(_ line: [UInt8])
        /// A device was found but is not used, for example because it may be another device than before.
        case doubtful(_ reason: String)
        /// The link is about to be closed, because no client, subscription or request needs it.
        case idle
        /// A client has connected.
        case came(_ client: String)
        /// A client has left.
        case left(_ client: String)
        /// A client was disconnected by this program, for the given reason.
        case dropped(_ client: String, _ reason: String)
        /// Output or pending lines of a client on a pseudo-terminal were discarded. The client is not disconnected.
        case notServed(_ client: String, _ reason: String)
        /// A connection was closed as soon as it was accepted, because of the client limit.
        case turnedAway(_ client: String, _ reason: String)
        /// A connection could not be accepted for the given reason, or only with the descriptor that the listener keeps
        /// for the case that no other is left.
        case short(_ reason: String)
        /// A line is about to be sent in its turn.
        case sends(_ line: [UInt8], for: String)
        /// A verb with its arguments is passed on to the simulator of the device.
        case simulates(_ words: String, for: String)
        /// A line was not sent, for the given reason.
        case notSent(_ line: [UInt8], by: String, _ reason: String)
        /// The device refused a line with the given reply.
        case refusedByDevice(_ line: [UInt8], for: String, _ answer: String)
        /// A line that was sent got no complete or expected reply; or malformed input of a client was dropped.
        case failed(_ line: [UInt8], for: String, _ reason: String)
    }
}
