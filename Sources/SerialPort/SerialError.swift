import Glibc

/// The failure of a serial-port operation.
///
/// Programs look at ``code``; people read ``description`` and act on ``hint``.
public struct SerialError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// The path does not exist, or no device is behind the node.
        case noSuchPort
        /// The path leads to something other than a terminal: a directory, a file, another device.
        case notATerminal
        /// Another program has the port open, or this program has it open by another descriptor. The holder is nil if
        /// unknown.
        case busy(holder: PortHolder?)
        /// The user lacks permission.
        case notPermitted
        /// The driver chose other settings than requested; the settings in `taken` are in force.
        case settingsRefused(asked: SerialOptions, taken: SerialOptions)
        /// The driver does not support the operation.
        case unsupported
        /// An option is out of range, or can't be changed; nothing was done.
        case invalidOption
        /// The device was unplugged, or the other end of the pseudo-terminal closed.
        case disconnected
        /// The deadline passed before the operation was complete.
        case timedOut
        /// This program closed the port.
        case closed
        /// The path for a symbolic link is occupied by something that must not be replaced.
        case pathTaken
        /// Any other system error: see ``SerialError/errno``.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// The system's error number; nil if there is none.
    public var errno: Int32?
    /// The operation that failed, such as "opening".
    public var activity: String
    /// The path of the port, the link or the link's claim file; `serial ports` if the failure concerns no single port.
    public var path: String
    /// A step that a person can take against the failure; nil if none is known.
    public var hint: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - errno: The system's error number; nil if there is none.
    ///   - activity: The operation that failed, such as "opening".
    ///   - path: The path of the port.
    ///   - hint: A step that a person can take against the failure.
    public init(_ code: Code, errno: Int32? = nil, activity: String, path: String, hint: String? = nil) {
        self.code = code
        self.errno = errno
        self.activity = activity
        self.path = path
        self.hint = hint
    }

    /// Creates the error for a failed call on an open port.
    init(errno: Int32, activity: String, path: String) {
        let code: Code =
            switch errno {
            // An unplugged port returns EIO or ENODEV; a pseudo-terminal whose master is closed returns EIO.
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
                    ? "restart the program that offers the port" : "plug the device in again, or switch it on")
                + ", then try again"
        }
    }
}

extension SerialError: CustomStringConvertible {
    /// One line with the operation, the path, the reason and the hint.
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

    /// The failure in a few words, without the path and the hint.
    public var reason: String {
        switch code {
        case .noSuchPort: "no such port"
        case .notATerminal: "not a serial port"
        case .busy(let holder?): "busy: open in \(holder)"
        case .busy(nil): "busy: open in another program"
        case .notPermitted: "not permitted"
        case .settingsRefused(let asked, let taken):
            asked.differences(from: taken)
                .map { "requested \(asked.text(of: $0)), but the driver chose \(taken.text(of: $0))" }
                .joined(separator: ", ")
        case .unsupported: "the driver lacks this operation"
        case .invalidOption: "invalid option"
        case .disconnected: "disconnected"
        case .timedOut: "timed out"
        case .closed: "the port is closed"
        case .pathTaken: "the path is already in use"
        case .system: "failed"
        }
    }
}
