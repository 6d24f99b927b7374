internal import Glibc

/// The failure of an operation on a descriptor.
public struct DescriptorError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: Sendable, Hashable {
        /// The far end is gone: unplugged, hung up, or closed by its owner.
        case disconnected
        /// This end was closed before or during the operation.
        case closed
        /// The waiting task was cancelled.
        case cancelled
        /// A host name could not be resolved; with the code of getaddrinfo(3), such as `EAI_NONAME`.
        case unknownHost(CInt)
        /// Any other system error: see ``DescriptorError/errno``.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// The `errno` of the failure; nil if there is none.
    public var errno: CInt?
    /// The call that failed, such as `read` or `connect`.
    public var call: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - errno: The `errno` of the failure; nil if there is none.
    ///   - call: The call that failed, such as `read` or `connect`.
    public init(_ code: Code, errno: CInt? = nil, call: String) {
        self.code = code
        self.errno = errno
        self.call = call
    }

    /// Returns the error for the present value of `errno`, after `call` failed.
    public static func last(_ call: String) -> DescriptorError {
        DescriptorError(errno: Glibc.errno, call: call)
    }

    /// Creates an error from an `errno`. EIO, EPIPE, ECONNRESET, ENXIO, and ENODEV mean that the far end is gone.
    ///
    /// - Parameters:
    ///   - errno: The `errno` of the failure.
    ///   - call: The call that failed, such as `read` or `connect`.
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
