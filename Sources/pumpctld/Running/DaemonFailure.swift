import LineProtocol
import TOMLReading

/// Why the daemon does not start, or has ended: what a person is told, and the status of its exit.
struct DaemonFailure: Error, Sendable, Hashable {
    /// What the exit says, by the numbers of sysexits.h.
    enum Status: Int32, Sendable, Hashable {
        /// The command line or the configuration is wrong.
        case usage = 64
        /// A file or a folder is not there.
        case noInput = 66
        /// Another program has the address.
        case unavailable = 69
        /// The system refused.
        case ioError = 74
        /// This user may not.
        case noPermission = 77
    }

    /// The status of the exit.
    var status: Status
    /// What is wrong, in one sentence without a full stop.
    var message: String
    /// One thing that a person can do about it.
    var hint: String

    init(_ status: Status, _ message: String, hint: String) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    init(_ error: ConfigurationError) { self.init(.usage, "\(error)", hint: error.hint) }
}

extension DaemonFailure: CustomStringConvertible {
    /// On one line. What stands in it may come from a file or from a device, so control characters are escaped.
    var description: String { "\(message.printable()); \(hint.printable())" }
}
