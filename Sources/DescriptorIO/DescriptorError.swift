internal import Glibc

/// Why an operation on a descriptor did not succeed.
public struct DescriptorError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: Sendable, Hashable {
        /// The far end is gone: unplugged, hung up, or closed by its owner.
        case disconnected
        /// This end was closed before, or while, the operation ran.
        case closed
        /// The task that waited was cancelled.
        case cancelled
        /// A host's name leads to no address; with the code of getaddrinfo(3), as `EAI_NONAME`.
        case unknownHost(CInt)
        /// The operating system refused; ``DescriptorError/errno`` says how.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// The `errno` behind it, where there was one.
    public var errno: CInt?
    /// The call that failed, as `read` or `connect`.
    public var call: String

    /// An error of the given kind.
    public init(_ code: Code, errno: CInt? = nil, call: String) {
        self.code = code
        self.errno = errno
        self.call = call
    }

    /// The error that `errno` holds after `call` failed.
    public static func last(_ call: String) -> DescriptorError {
        DescriptorError(errno: Glibc.errno, call: call)
    }

    /// Sorts an `errno` into its kind: EIO, EPIPE, ECONNRESET, ENXIO, and ENODEV say that the far end is gone.
    public init(errno: CInt, call: String) {
        let code: Code =
            switch errno {
            case EIO, EPIPE, ECONNRESET, ENXIO, ENODEV: .disconnected
            default: .system
            }
        self.init(code, errno: errno, call: call)
    }
}

extension DescriptorError: CustomStringConvertible {
    public var description: String {
        let kind =
            switch code {
            case .disconnected: "the far end is gone"
            case .closed: "closed"
            case .cancelled: "cancelled"
            case .unknownHost(let code): String(cString: gai_strerror(code))
            case .system: "failed"
            }
        guard let errno else { return "\(call): \(kind)" }
        return "\(call): \(kind) (\(String(cString: strerror(errno))))"
    }
}
