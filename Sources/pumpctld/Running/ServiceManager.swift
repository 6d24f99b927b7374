import Glibc
import LineProtocol

/// The service manager that started this process, such as systemd, which is notified by the protocol of sd_notify(3).
///
/// ```swift
/// let manager = ServiceManager.ours
/// manager?.tell(.ready, .status("2 devices"))
/// ```
struct ServiceManager: Sendable, Hashable {
    /// A notification.
    enum Notice: Sendable, Hashable {
        /// The program has started to serve.
        case ready
        /// The program is about to end.
        case stopping
        /// The program is alive. Must be sent at intervals shorter than the manager's watchdog time-out.
        case alive
        /// A description of the program's state, for people.
        case status(String)

        /// The notification as sent.
        fileprivate var text: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=\(text.printable())"
            }
        }
    }

    /// The interval of ``Notice/alive``, half of the manager's watchdog time-out; nil if the manager has no watchdog
    /// for this process.
    let interval: Duration?
    private let address: [UInt8]

    /// The service manager of this process; nil if there is none.
    static var ours: ServiceManager? {
        ServiceManager { name in getenv(name).map { String(cString: $0) } }
    }

    /// Creates the service manager that environment variables name; nil if there is none, or its address is not that
    /// of a Unix socket.
    ///
    /// - Parameters:
    ///   - process: The ID of the calling process.
    ///   - variable: Returns the value of an environment variable.
    init?(process: pid_t = getpid(), _ variable: (_ name: String) -> String?) {
        guard let name = variable("NOTIFY_SOCKET"), let first = name.utf8.first,
            [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first),
            name.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        // An abstract address, written with an @, begins with a NUL.
        address = first == UInt8(ascii: "@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        // A process that was started by the watched one may have inherited the variables.
        let isMeant = variable("WATCHDOG_PID").map { $0 == "\(process)" } ?? true
        interval = isMeant ? variable("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap(Self.interval) : nil
    }

    /// Returns half of the watchdog's time-out, which is given in microseconds.
    private static func interval(_ patience: Int64) -> Duration? {
        patience > 0 ? .microseconds(max(1, patience / 2)) : nil
    }

    /// Sends notifications. Errors are ignored: the manager notices a missing notification by its own time-outs.
    func tell(_ notices: Notice...) {
        let kind = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        let length = MemoryLayout<sa_family_t>.size + address.count
        let text = notices.map(\.text).joined(separator: "\n")
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = sendto(descriptor, text, text.utf8.count, flags, pointer, socklen_t(length))
            }
        }
    }
}
