public import LineProtocol

/// What a ``LineConsole`` has to show, in order.
public enum ConsoleHappening: Sendable {
    /// The device has said something.
    case heard(DeviceLine)
    /// The device had said something before the link was opened: it answers no line.
    case heardBefore(DeviceLine)
    /// A line was not sent: it means something else to the device than it says, for that reason.
    case dangerous([UInt8], reason: String)
    /// A line was not sent: there is no device now.
    case noDevice([UInt8])
    /// A line could not be sent.
    case notSent([UInt8], LinkError)
    /// A line of a script was not answered in time.
    case unanswered([UInt8])
    /// The link is lost; nil where it was closed without an error. The device is waited for. Whether `pending`, the line that
    /// was sent last, was carried out is unknown.
    case lost(LinkError?, pending: [UInt8]?)
    /// The device is back, at the link of that name; it may have started anew.
    case back(name: String)
}

/// How a script went that a ``LineConsole`` has sent.
public struct ConsoleResult: Sendable, Hashable {
    /// How many lines were not sent, since they mean something else than they say.
    public var refusals = 0
    /// The code of the first error that the device has told of, or the line that told of it.
    public var deviceError: String?
    /// The first line that was sent and not answered, or whose answer has not ended.
    public var unanswered: [UInt8]?
    /// How many lines were not sent, since the answer to one before was an error, or has not ended.
    public var unsentCount = 0

    /// A script all of whose lines were sent and answered.
    public init() {}

    init(refusals: Int, deviceError: String?, unanswered: [UInt8]?, unsentCount: Int) {
        self.refusals = refusals
        self.deviceError = deviceError
        self.unanswered = unanswered
        self.unsentCount = unsentCount
    }
}

/// The link of a script broke: what follows is not sent to a device that may have started anew.
public struct ScriptLossError: Error, Sendable {
    /// How the link broke; nil where it was closed without an error.
    public var link: LinkError?
    /// The line that was sent last, where nothing had come since: whether it was carried out is unknown.
    public var pending: [UInt8]?
    /// How many lines were not sent.
    public var unsentCount: Int
    /// Whether more lines were still to come.
    public var mayFollow: Bool
}
