import LineProtocol
import TOMLReading

/// The reason why the daemon does not start or has ended: a message for people, and the exit status.
struct DaemonFailure: Error, Sendable, Hashable {
    /// An exit status of sysexits.h.
    enum Status: Int32, Sendable, Hashable {
        /// The command line or the configuration is invalid.
        case usage = 64
        /// A file, folder or address does not exist or can't be used.
        case noInput = 66
        /// Another program uses the address, or there is another file at the path.
        case unavailable = 69
        /// A system call failed.
        case ioError = 74
        /// This user lacks a permission, or the file system is read-only.
        case noPermission = 77
    }

    var status: Status
    /// The failure, in one sentence without a full stop.
    var message: String
    /// An instruction that may solve the problem.
    var hint: String

    init(_ status: Status, _ message: String, hint: String) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    init(_ error: ConfigurationError) { self.init(.usage, "\(error)", hint: error.hint) }
}

extension DaemonFailure: CustomStringConvertible {
    /// The failure on one line. Its texts may come from a file or a device, so control characters are escaped.
    var description: String { "\(message.printable()); \(hint.printable())" }
}
