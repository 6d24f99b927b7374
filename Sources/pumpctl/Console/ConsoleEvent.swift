import LineProtocol

/// What a console has to attend to.
enum ConsoleEvent: Sendable {
    /// This came from standard input.
    case typed([UInt8])
    /// Standard input has ended.
    case inputEnded
    /// This came over the link.
    case arrived(LinkArrival)
    /// The device is back.
    case reopened(any Link)
    /// The device can't come back.
    case reopeningFailed(any Error)
    /// A line could not be sent.
    case notSent([UInt8], LinkError)
    /// The end of a line is overdue, unless something has come after so many arrivals.
    case lineEndOverdue(arrivals: Int)
    /// The device was quiet for long enough, unless something has come since.
    case quiet
    /// The terminal has another size.
    case resized
    /// Something to show on the side.
    case note(String)
}
