internal import Glibc

/// The folder of this user's sockets.
package enum RuntimeFolder {
    /// The possible paths of the folder, best first. There are several, because a program may have been started without
    /// XDG_RUNTIME_DIR.
    static var candidates: [String] {
        let user = geteuid()
        var folders: [String] = []
        if let variable = getenv("XDG_RUNTIME_DIR"), variable.pointee == UInt8(ascii: "/") {
            folders.append(String(cString: variable) + "/pumpctl")
        }
        for folder in ["/run/user/\(user)/pumpctl", "/tmp/pumpctl-\(user)"] where !folders.contains(folder) {
            folders.append(folder)
        }
        return folders
    }

    /// Creates the missing folders whose parents exist. Returns the folders that only this user may access, best
    /// first.
    ///
    /// All are created, not only the best: ``OffService`` listens in each, because the program that requests OFF may
    /// have been started without XDG_RUNTIME_DIR, and then looks in fewer of them.
    package static func make() -> [String] {
        candidates.filter { path in
            _ = mkdir(path, 0o700)
            return isOurs(path)
        }
    }

    /// The existing folders that only this user may access. The check matters in /tmp, where everybody can create
    /// folders.
    static var existing: [String] { candidates.filter(isOurs) }

    private static func isOurs(_ path: String) -> Bool {
        var node = stat()
        guard lstat(path, &node) == 0, node.st_mode & S_IFMT == S_IFDIR, node.st_uid == geteuid() else { return false }
        return node.st_mode & 0o077 == 0
    }
}
