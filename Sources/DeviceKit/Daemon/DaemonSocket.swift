internal import DescriptorIO
internal import Glibc
internal import LineProtocol
internal import SerialPort

/// The socket of a daemon, pumpctld, that owns and shares devices.
package struct DaemonSocket: Sendable {
    /// The environment variable that names a socket to use instead of all others.
    static let variable = "PUMPCTLD_SOCKET"

    let path: String

    /// Returns the sockets at which daemons may listen.
    package typealias Search = @Sendable () -> [DaemonSocket]

    /// The sockets at which a daemon may listen, best first: this user's daemons, then the system's. Only ``named``, if
    /// the environment names a socket.
    static var candidates: [DaemonSocket] {
        if let named { return [named] }
        let paths = RuntimeFolder.existing.flatMap { folder in
            Folder.names(in: folder).filter { $0.hasPrefix(name) }.map { "\(folder)/\($0)" }
        }
        return (paths + ["/run/pumpctld/socket"]).map { DaemonSocket(path: $0) }
    }

    /// The socket that the environment names for use instead of all others; nil if it names none.
    static var named: DaemonSocket? { getenv(variable).map { DaemonSocket(path: String(cString: $0)) } }

    /// The prefix of the socket names of this user's daemons.
    private static let name = "pumpctld"

    /// The default socket paths of a new daemon, best first. The daemon takes the first path that no other daemon uses.
    /// Only the path of ``named``, if the environment names a socket.
    ///
    /// The paths are in the folder that systemd has made for the service (`RUNTIME_DIRECTORY`), or in this user's
    /// runtime folder. Empty if there is no such folder.
    package static var pathsOfOwn: [String] {
        if let named { return [named.path] }
        if let folders = getenv("RUNTIME_DIRECTORY"), let folder = String(cString: folders).split(separator: ":").first
        {
            return ["\(folder)/socket"]
        }
        return RuntimeFolder.make().first.map { ["\($0)/\(name)", "\($0)/\(name)-\(getpid())"] } ?? []
    }

    /// The candidates that exist, or whose folder is unreadable (EACCES), so that they may exist.
    static var present: [DaemonSocket] {
        candidates.filter { socket in access(socket.path, F_OK) == 0 || errno == EACCES }
    }

    /// The permissions of the socket; if they are not visible, of its folder, for which the permission to enter it (1)
    /// matters.
    private var permissions: NodePermissions? {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return NodePermissions(path: path) ?? NodePermissions(path: folder, access: 1)
    }

    /// The group that a user without permission to use the socket can join; nil if there is none.
    var joinableGroup: String? { permissions?.group }

    /// Advice for a user without permission to use the socket.
    var permissionHint: String {
        guard let permissions else {
            return "check the permissions of the socket: namei -l \(path)"
        }
        guard let group = permissions.group else {
            return "use pumpctld as \(permissions.owner), or set 'group' in its configuration"
        }
        return "join the group that may use pumpctld, then log in again: sudo usermod -aG \(group) $USER"
    }
}

extension LinkHolder {
    /// Whether the process is a daemon that shares devices.
    var isDaemon: Bool { command == "pumpctld" }
}
