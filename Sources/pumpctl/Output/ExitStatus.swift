import LineProtocol

/// What the program's exit says, by the numbers of sysexits.h.
enum ExitStatus: Int32 {
    case done = 0
    /// The device answered `ERROR:…`.
    case refused = 1
    /// A check failed: the program did not do what a simulated device expected of it.
    case checkFailed = 2
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

    /// The exit of a command that a link failed.
    init(_ code: LinkError.Code) {
        self =
            switch code {
            case .invalidEndpoint, .wrongFamily, .unsupported: .usage
            case .notFound, .ambiguous, .changedDevice, .unfit: .noInput
            case .busy, .unavailable: .unavailable
            case .notPermitted: .noPermission
            case .disconnected, .closed, .system: .ioError
            case .timedOut: .temporaryFailure
            case .cancelled: .interrupted
            }
    }
}
