internal import DescriptorIO
internal import Glibc
internal import LineProtocol
internal import SerialPort

/// The socket of a daemon, pumpctld, that has devices and shares them.
package struct DaemonSocket: Sendable {
    /// What names a socket that is used instead of any other.
    static let variable = "PUMPCTLD_SOCKET"

    let path: String

    /// Finds the sockets of daemons.
    package typealias Search = @Sendable () -> [DaemonSocket]

    /// Where a daemon may listen, best first: this user's daemon, then the system's.
    static var candidates: [DaemonSocket] {
        if let named { return [named] }
        let paths = RuntimeFolder.existing.flatMap { folder in
            Folder.names(in: folder).filter { $0.hasPrefix(name) }.map { "\(folder)/\($0)" }
        }
        return (paths + ["/run/pumpctld/socket"]).map { DaemonSocket(path: $0) }
    }

    /// The one that is used instead of any other; nil where none is named.
    static var named: DaemonSocket? { getenv(variable).map { DaemonSocket(path: String(cString: $0)) } }

    /// What the names of this user's daemons' sockets begin with.
    private static let name = "pumpctld"

    /// The paths at which a daemon may listen if it was given none, best first: it takes the first that no other daemon has.
    ///
    /// They are in the folder that systemd has made for it, or in this user's. Empty if there is no such folder.
    package static var pathsOfOwn: [String] {
        if let named { return [named.path] }
        if let folders = getenv("RUNTIME_DIRECTORY"), let folder = String(cString: folders).split(separator: ":").first
        {
            return ["\(folder)/socket"]
        }
        return RuntimeFolder.make().first.map { ["\($0)/\(name)", "\($0)/\(name)-\(getpid())"] } ?? []
    }

    /// Those of them that are there, or may be: who may not look into a folder can't tell.
    static var present: [DaemonSocket] {
        candidates.filter { socket in access(socket.path, F_OK) == 0 || errno == EACCES }
    }

    /// What a person does who may not use the socket.
    var permissionHint: String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard let permissions = NodePermissions(path: path) ?? NodePermissions(path: folder, access: 1) else {
            return "look at who may use pumpctld: namei -l \(path)"
        }
        guard let group = permissions.group else {
            return "use it as \(permissions.owner), or name a group by 'group' in pumpctld's configuration"
        }
        return "join the group that may use pumpctld, then log in again: sudo usermod -aG \(group) $USER"
    }
}

extension LinkHolder {
    /// Whether it is a daemon that shares devices.
    var isDaemon: Bool { command == "pumpctld" }
}
