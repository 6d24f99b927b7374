import Glibc
import LineProtocol

/// The service manager that has started this program, which wants to know what the program is doing: systemd, by the protocol of
/// sd_notify(3).
///
/// ```swift
/// let manager = ServiceManager.ours
/// manager?.tell(.ready, .status("2 devices"))
/// ```
struct ServiceManager: Sendable, Hashable {
    /// Something that it is told.
    enum Notice: Sendable, Hashable {
        /// The program serves from now on.
        case ready
        /// The program is about to end.
        case stopping
        /// The program is alive; to be said more often than the manager's patience with it lasts.
        case alive
        /// What the program is doing, for people.
        case status(String)

        /// As it is sent.
        fileprivate var text: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=\(text.printable())"
            }
        }
    }

    /// How often to tell it ``Notice/alive``, which is half of the time that it waits; nil where it does not wait for that.
    let interval: Duration?
    private let address: [UInt8]

    /// The one that has started this process; nil where there is none.
    static var ours: ServiceManager? {
        ServiceManager { name in getenv(name).map { String(cString: $0) } }
    }

    /// The one that an environment names; nil where it names none, or one that can't be reached by a socket's path.
    ///
    /// - Parameters:
    ///   - process: The process that asks.
    ///   - variable: The variables of the environment.
    init?(process: pid_t = getpid(), _ variable: (_ name: String) -> String?) {
        guard let name = variable("NOTIFY_SOCKET"), let first = name.utf8.first,
            [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first),
            name.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        // An abstract name has a NUL where it is written with an @.
        address = first == UInt8(ascii: "@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        // A child of the watched process may have inherited the variables.
        let isMeant = variable("WATCHDOG_PID").map { $0 == "\(process)" } ?? true
        interval = isMeant ? variable("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap(Self.interval) : nil
    }

    private static func interval(_ patience: Int64) -> Duration? {
        patience > 0 ? .microseconds(max(1, patience / 2)) : nil
    }

    /// Tells it something. Nothing is done where that is not possible: the manager finds out by itself.
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
