import LineProtocol

/// An exit status of the program. From 64 to 77, the numbers are those of sysexits.h.
enum ExitStatus: Int32 {
    case done = 0
    /// The device refused the command, as with `ERROR:…`; or another program's OFF or the pump's button overruled it.
    case refused = 1
    /// A check failed: the device or the program under test did not behave as expected.
    case checkFailed = 2
    /// The pump was stopped for safety, by its firmware or by this program.
    case stoppedForSafety = 3
    /// The command line, the configuration or a named file is invalid, or the request is not supported.
    case usage = 64
    /// There is no such port, device or file, or several devices have the name.
    case noInput = 66
    /// Another program uses the device, or a needed program or adapter is not available.
    case unavailable = 69
    /// The link broke, or the system reported another error.
    case ioError = 74
    /// No reply arrived in time, or another goal was not reached in time.
    case temporaryFailure = 75
    /// An unexpected reply arrived.
    case protocolError = 76
    /// This user lacks a permission.
    case noPermission = 77
    /// The command was cancelled. After a signal, the exit status is 128 plus the number of the signal instead.
    case interrupted = 130
    /// The reader of standard output has gone. A shell reports the same status for a program that SIGPIPE ended.
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
