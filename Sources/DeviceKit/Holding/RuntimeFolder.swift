internal import Glibc

/// The folder of this user's sockets, which is gone when the machine is started anew.
package enum RuntimeFolder {
    /// The places that it may be at, best first: a program may have been started without XDG_RUNTIME_DIR.
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

    /// Those of them that are this user's alone, made where they are missing.
    package static func make() -> [String] {
        candidates.filter { path in
            _ = mkdir(path, 0o700)
            return isOurs(path)
        }
    }

    /// Those that are there and are this user's alone: /tmp is everybody's.
    static var existing: [String] { candidates.filter(isOurs) }

    private static func isOurs(_ path: String) -> Bool {
        var node = stat()
        guard lstat(path, &node) == 0, node.st_mode & S_IFMT == S_IFDIR, node.st_uid == geteuid() else { return false }
        return node.st_mode & 0o077 == 0
    }
}
