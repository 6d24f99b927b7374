import Glibc

/// A symbolic link that gives a pseudo-terminal a name of its own.
struct PortLink {
    let path: String
    let target: String

    /// Makes the link, at once or not at all.
    ///
    /// A link that a crashed program left behind is replaced: one that leads nowhere, or to the very target, whose number
    /// was given out anew. Anything else at the path is left alone.
    init(path: String, target: String) throws(SerialError) {
        self.path = path
        self.target = target
        if symlink(target, path) == 0 { return }
        guard errno == EEXIST else { throw failure(errno) }
        guard isStale else {
            throw SerialError(
                .pathTaken, errno: EEXIST, activity: "linking", path: path,
                hint: "remove what is there, or choose another path")
        }
        // The process and the pseudo-terminal make the name unique: what is there can only be a leftover.
        let new = "\(path).\(getpid())-\(target.split(separator: "/").last ?? "")"
        unlink(new)
        guard symlink(target, new) == 0 else { throw failure(errno) }
        guard rename(new, path) == 0 else {
            let error = errno
            unlink(new)
            throw failure(error)
        }
    }

    /// Removes the link, unless it has come to lead elsewhere.
    func remove() {
        if destination == target { unlink(path) }
    }

    private var isStale: Bool {
        guard let destination else { return false }
        if destination == target { return true }
        var status = stat()
        return stat(path, &status) != 0 && errno == ENOENT
    }

    /// Where the link leads; nil when it is no link.
    private var destination: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
            let count = readlink(path, buffer.baseAddress!, buffer.count - 1)
            guard count >= 0 else { return nil }
            buffer[count] = 0
            return String(cString: buffer.baseAddress!)
        }
    }

    private func failure(_ error: Int32) -> SerialError {
        SerialError(
            .system, errno: error, activity: "linking", path: path,
            hint: "choose a path in a folder that you may write to")
    }
}
