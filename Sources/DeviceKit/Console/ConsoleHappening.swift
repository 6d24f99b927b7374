public import LineProtocol

/// An event of a ``LineConsole`` to show to the user. Events are delivered in order.
public enum ConsoleHappening: Sendable {
    /// The device sent a line.
    case heard(DeviceLine)
    /// The device sent this line before the console began, so the line answers no line of the console.
    case heardBefore(DeviceLine)
    /// A line was not sent, because the device would misread it; `reason` explains the danger.
    case dangerous([UInt8], reason: String)
    /// A line was not sent, because no device is connected.
    case noDevice([UInt8])
    /// A line could not be sent.
    case notSent([UInt8], LinkError)
    /// A line of a script got no answer in time, or an answer that did not end (see ``AnswerRules/end``).
    case unanswered([UInt8])
    /// The link is lost; the error is nil if the link was closed without one. The console waits for the device.
    /// `pending` is the line that was queued last for the device, which may not have been sent; nil if bytes have
    /// arrived since. Whether the device carried it out is unknown.
    case lost(LinkError?, pending: [UInt8]?)
    /// The device is back; `name` is the name of its new link. The device may have restarted.
    case back(name: String)
}

/// The result of a script that a ``LineConsole`` has sent.
public struct ConsoleResult: Sendable, Hashable {
    /// The number of lines that were not sent because the device would misread them.
    public var refusals = 0
    /// The code of the first error that the device reported, or the whole line if only ``AnswerRules/failure`` matches
    /// it; nil if there was no error.
    public var deviceError: String?
    /// The first line without an answer, or with an answer that did not end; nil if all answers are complete.
    public var unanswered: [UInt8]?
    /// The number of lines that were read from the script's input, but not sent because the script stopped: at an error
    /// if ``AnswerRules/failure`` is set, or at an answer that did not end if ``AnswerRules/end`` is set.
    public var unsentCount = 0

    /// Creates the result of a script whose lines were all sent and answered.
    public init() {}

    init(refusals: Int, deviceError: String?, unanswered: [UInt8]?, unsentCount: Int) {
        self.refusals = refusals
        self.deviceError = deviceError
        self.unanswered = unanswered
        self.unsentCount = unsentCount
    }
}

/// The link broke while a script ran. The rest of the script is not sent, because the device may have restarted.
public struct ScriptLossError: Error, Sendable {
    /// The error of the link; nil if the link was closed without an error.
    public var link: LinkError?
    /// The line that was queued last for the device, which may not have been sent; nil if bytes have arrived since.
    /// Whether the device carried the line out is unknown.
    public var pending: [UInt8]?
    /// The number of lines in the rest of the script, as far as its input was read; ``pending`` is not counted.
    public var unsentCount: Int
    /// Whether the script may have more lines than ``unsentCount`` says, because its input had not ended yet.
    public var mayFollow: Bool
}
