import DescriptorIO
import Glibc

/// The sockets at which a pumpctld may listen; docs/daemon.md lists them.
enum DaemonSockets {
    /// The paths, best first: this user's daemons, then the system's. Only the path in `PUMPCTLD_SOCKET` if that is set.
    static var paths: [String] {
        if let path = getenv("PUMPCTLD_SOCKET") { return [String(cString: path)] }
        var folders = ["/run/user/\(getuid())/pumpctl", "/tmp/pumpctl-\(getuid())"]
        if let folder = getenv("XDG_RUNTIME_DIR") { folders.insert("\(String(cString: folder))/pumpctl", at: 0) }
        let paths = folders.filter(isOurs).flatMap { folder in
            // A second daemon has the socket `pumpctld-PID`.
            Folder.names(in: folder).filter { $0.hasPrefix("pumpctld") }.map { "\(folder)/\($0)" }
        }
        return paths + ["/run/pumpctld/socket"]
    }

    /// Whether only this user may change a folder. In /tmp, everybody can create one.
    private static func isOurs(_ path: String) -> Bool {
        var node = stat()
        guard lstat(path, &node) == 0, node.st_mode & S_IFMT == S_IFDIR else { return false }
        return node.st_uid == getuid() && node.st_mode & 0o077 == 0
    }
}
