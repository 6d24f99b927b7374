/// What the program's exit says, by the numbers of sysexits.h.
enum ExitStatus: Int32 {
    case done = 0
    /// The device answered `ERROR:…`.
    case refused = 1
    /// The pump was stopped for safety, by itself or by this program.
    case stoppedForSafety = 3
    /// The command line is wrong.
    case usage = 64
    /// There is no such port or device.
    case noInput = 66
    /// Somebody else uses the port.
    case unavailable = 69
    /// The link broke.
    case ioError = 74
    /// No answer came in time.
    case temporaryFailure = 75
    /// An answer came that the protocol does not know.
    case protocolError = 76
    /// This user may not.
    case noPermission = 77
    /// The task was cancelled; by a signal, its number counts instead.
    case interrupted = 130
    /// The reader of standard output has gone, as where SIGPIPE ends a program.
    case brokenPipe = 141
}
