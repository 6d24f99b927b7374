/// Something that happens to a shared device, for a log. Of what clients send nothing was escaped.
public struct SharingReport: Sendable, Hashable {
    /// The device's name.
    public var device: String
    /// What happens.
    public var event: Event

    /// A report.
    public init(device: String, _ event: Event) {
        self.device = device
        self.event = event
    }

    /// What happens to a shared device.
    public enum Event: Sendable, Hashable {
        /// The link to it is open.
        case up(_ link: String)
        /// Its link is lost; it is waited for.
        case lost(_ reason: String)
        /// It can't be opened; that is tried again.
        case notOpened(_ reason: String, _ hint: String?)
        /// It is not of the family that was assumed: this line is no answer of one.
        case notOfFamily(_ line: [UInt8])
        /// What is there now is not taken for it.
        case doubtful(_ reason: String)
        /// Nobody needs its link, which is closed.
        case idle
        /// A client has come.
        case came(_ client: String)
        /// A client has left.
        case left(_ client: String)
        /// A client was hung up on.
        case dropped(_ client: String, _ reason: String)
        /// The users of a pseudo-terminal lose what they were to be told, or what they have asked for.
        case notServed(_ client: String, _ reason: String)
        /// A client was not let in.
        case turnedAway(_ client: String, _ reason: String)
        /// The system lets this program have no more connections, for this reason; OFF still gets through.
        case short(_ reason: String)
        /// A line goes to the device, in its turn.
        case sends(_ line: [UInt8], for: String)
        /// A line was not sent.
        case notSent(_ line: [UInt8], by: String, _ reason: String)
        /// The device has refused a line, in these words.
        case refusedByDevice(_ line: [UInt8], for: String, _ answer: String)
        /// A line was sent and brought no answer: what became of it is not known, unless it only asked.
        case failed(_ line: [UInt8], for: String, _ reason: String)
    }
}
