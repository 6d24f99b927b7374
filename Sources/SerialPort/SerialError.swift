import Glibc

/// Why a serial port could not do what was asked.
///
/// Programs look at ``code``; people read ``description``, and act on ``hint``.
public struct SerialError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// Nothing is there, or a node without a device behind it.
        case noSuchPort
        /// Something is there, and it is no terminal: a directory, a file, another device.
        case notATerminal
        /// Another program has it, or this one by another descriptor. The holder is nil where it may not be known.
        case busy(holder: PortHolder?)
        /// The user may not.
        case notPermitted
        /// The driver took other settings than were asked for; they are now in force.
        case settingsRefused(asked: SerialOptions, taken: SerialOptions)
        /// The driver has no such operation.
        case unsupported
        /// An option or an argument is out of range; nothing was done.
        case invalidOption
        /// The device was unplugged, or the other end of the pseudo-terminal closed.
        case disconnected
        /// The deadline passed first.
        case timedOut
        /// The port was closed by this program.
        case closed
        /// The path meant for a symbolic link is taken by something that must not be replaced.
        case pathTaken
        /// Any other error of the system: see ``SerialError/errno``.
        case system
    }

    /// What went wrong.
    public var code: Code
    /// The system's error number, where the system refused.
    public var errno: Int32?
    /// What was being done, as in "opening".
    public var activity: String
    /// The path of the port.
    public var path: String
    /// One thing a person can do about it.
    public var hint: String?

    /// An error with all its parts.
    public init(_ code: Code, errno: Int32? = nil, activity: String, path: String, hint: String? = nil) {
        self.code = code
        self.errno = errno
        self.activity = activity
        self.path = path
        self.hint = hint
    }

    /// The error for a call that failed on an open port.
    init(errno: Int32, activity: String, path: String) {
        let code: Code =
            switch errno {
            // A port that was unplugged answers EIO or ENODEV, a closed pty master EIO.
            case EIO, ENODEV, ENXIO: .disconnected
            case ENOTTY, EOPNOTSUPP: .unsupported
            case EACCES, EPERM: .notPermitted
            case EBUSY: .busy(holder: nil)
            default: .system
            }
        self.init(code, errno: errno, activity: activity, path: path)
        if code == .disconnected {
            let isOffered = PseudoTerminalPath.isLikely(path)
            hint =
                (isOffered
                    ? "start the program again that offers the port" : "plug the device in again, or switch it on")
                + ", then try again"
        }
    }
}

extension SerialError: CustomStringConvertible {
    /// One line: what was being done, to what, what went wrong, and what can be done.
    public var description: String {
        var text = "\(activity) \(path): \(reason)"
        if let errno, let message = strerror(errno) {
            text += " (\(String(cString: message)))"
        }
        if let hint {
            text += "; \(hint)"
        }
        return text
    }

    /// What went wrong, in a few words, without the path and the hint.
    public var reason: String {
        switch code {
        case .noSuchPort: "no such port"
        case .notATerminal: "not a serial port"
        case .busy(let holder?): "busy: open in \(holder)"
        case .busy(nil): "busy: open in another program"
        case .notPermitted: "not permitted"
        case .settingsRefused(let asked, let taken):
            asked.differences(from: taken)
                .map { "asked for \(asked.text(of: $0)), the driver took \(taken.text(of: $0))" }
                .joined(separator: ", ")
        case .unsupported: "the driver does not support it"
        case .invalidOption: "invalid option"
        case .disconnected: "disconnected"
        case .timedOut: "timed out"
        case .closed: "the port is closed"
        case .pathTaken: "the path is taken"
        case .system: "failed"
        }
    }
}
