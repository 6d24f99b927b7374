import LineProtocol

/// An exit status of the program, mostly by the numbers of sysexits.h.
enum ExitStatus: Int32 {
    case done = 0
    /// The device answered `ERROR:…`.
    case refused = 1
    /// A check failed: the device or the program under test did not behave as expected.
    case checkFailed = 2
    /// The pump was stopped for safety, by its firmware or by this program.
    case stoppedForSafety = 3
    /// The command line is invalid.
    case usage = 64
    /// There is no such port or device.
    case noInput = 66
    /// Another program uses the device, or a needed service or adapter is not available.
    case unavailable = 69
    /// The link broke.
    case ioError = 74
    /// No reply arrived in time.
    case temporaryFailure = 75
    /// A reply arrived that the protocol does not know.
    case protocolError = 76
    /// This user lacks a permission.
    case noPermission = 77
    /// The task was cancelled. If a signal cancelled it, the exit status is 128 plus the number of the signal instead.
    case interrupted = 130
    /// The reader of standard output has gone. The status is the same as that of a program that SIGPIPE ends.
    case brokenPipe = 141

    /// Creates the exit status for a link's error.
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
