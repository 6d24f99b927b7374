internal import DescriptorIO
internal import Glibc
internal import LineProtocol

extension LinkError {
    /// Converts an error of a descriptor.
    ///
    /// - Parameter isSocket: Whether a server, not a device, is at the far end.
    init(_ error: DescriptorError, name: String, activity: String, isSocket: Bool = false) {
        let code: Code =
            switch (error.code, error.errno) {
            case (.disconnected, _): .disconnected
            case (.closed, _): .closed
            case (.cancelled, _): .cancelled
            case (.unknownHost, _): .notFound
            case (.system, ENOENT), (.system, ECONNREFUSED), (.system, ENOTSOCK), (.system, EPROTOTYPE): .notFound
            case (.system, EHOSTUNREACH), (.system, ENETUNREACH), (.system, EHOSTDOWN), (.system, ENETDOWN): .notFound
            case (.system, ENAMETOOLONG): .invalidEndpoint
            case (.system, EACCES), (.system, EPERM): .notPermitted
            case (.system, ETIMEDOUT): .timedOut
            case (.system, _): .system
            }
        let detail = error.errno.map { String(cString: strerror($0)) }
        self.init(code, name: name, activity: activity, detail: detail)
        if case .unknownHost = error.code { self.detail = "the host name can't be resolved" }
        guard isSocket else {
            // For a device, the system's text adds nothing to the code `disconnected`.
            if code == .disconnected { self.detail = nil }
            return
        }
        switch code {
        case .disconnected: self.detail = "the server closed the connection"
        // After connecting, these errors mean that the connection was lost.
        case .notFound where activity != "connect", .timedOut where activity != "connect":
            (self.code, self.detail) = (.disconnected, "the connection was lost" + (detail.map { ": \($0)" } ?? ""))
        default: break
        }
    }
}
