internal import DescriptorIO
internal import Glibc
internal import LineProtocol

extension LinkError {
    /// What a descriptor's error means to the user of a link.
    init(_ error: DescriptorError, name: String, activity: String) {
        let code: Code =
            switch (error.code, error.errno) {
            case (.disconnected, _): .disconnected
            case (.closed, _): .closed
            case (.cancelled, _): .cancelled
            case (.system, ENOENT), (.system, ECONNREFUSED), (.system, ENOTSOCK), (.system, EPROTOTYPE): .notFound
            case (.system, EHOSTUNREACH), (.system, ENETUNREACH): .notFound
            case (.system, ENAMETOOLONG): .invalidEndpoint
            case (.system, EACCES), (.system, EPERM): .notPermitted
            case (.system, ETIMEDOUT): .timedOut
            case (.system, _): .system
            }
        self.init(code, name: name, activity: activity, detail: error.errno.map { String(cString: strerror($0)) })
    }
}
