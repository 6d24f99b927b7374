import DeviceKit

/// What a console on a terminal or a pipe has to attend to.
enum ConsoleEvent: Sendable {
    /// This came from standard input.
    case typed([UInt8])
    /// Standard input has ended.
    case inputEnded
    /// Something has happened that is to be shown.
    case happened(ConsoleHappening)
    /// A line that was entered is for this program.
    case asked(String)
    /// A line that was entered ends the console.
    case quit
    /// The conversation has ended.
    case ended
    /// The terminal has another size.
    case resized
    /// Something to show on the side.
    case note(String)
}
