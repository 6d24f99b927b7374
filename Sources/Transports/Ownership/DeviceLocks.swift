internal import DescriptorIO
internal import Glibc
internal import LineProtocol

/// Where the programs of this computer agree on who has a device: a folder with a file for each, which its owner locks.
struct DeviceLocks: Sendable {
    /// The folders, best first; the first that can be used counts, and is made where it is missing.
    var folders: [String]
    /// The time since the computer was started, which all programs see alike.
    var uptime: @Sendable () -> Duration = Self.timeSinceBoot
    /// openat(2).
    var openFile: @Sendable (CInt, String, CInt, mode_t) -> CInt = { openat($0, $1, $2, $3) }

    /// Those of the system. All users share the first two. The last is this user's alone, and keeps only this user's
    /// programs apart.
    static var system: DeviceLocks {
        var folders = ["/run/lock/pumpctl", "/tmp/pumpctl-lock"]
        if let own = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), own.hasPrefix("/") {
            folders.append(own + "/pumpctl")
        }
        return DeviceLocks(folders: folders)
    }

    /// What came of an attempt to get a device.
    enum Attempt {
        case taken(DeviceLock)
        /// Somebody has it; the process is nil where it may not be known.
        case held(by: LinkHolder?, note: DeviceLockNote?)
        /// No folder can be used.
        case unavailable
    }

    /// Tries to get the device of that ``DeviceID``, without waiting.
    ///
    /// - Parameter note: What others are told of this owner.
    func attempt(_ id: String, as note: DeviceLockNote) -> Attempt {
        for path in folders {
            guard let folder = Self.openFolder(path) else { continue }
            defer { close(folder) }
            if let attempt = attempt(id, in: folder, as: note) { return attempt }
        }
        return .unavailable
    }

    /// nil where the folder is of no use.
    private func attempt(_ id: String, in folder: CInt, as note: DeviceLockNote) -> Attempt? {
        // Once more where the file was removed meanwhile, as by who clears /tmp.
        for _ in 0..<10 {
            guard let file = openLockFile(id, in: folder) else { return nil }
            if flock(file, LOCK_EX | LOCK_NB) == 0 {
                if Self.isThere(file, id, in: folder) { return .taken(DeviceLock(file, as: note, uptime: uptime)) }
                close(file)
                continue
            }
            defer { close(file) }
            guard errno == EWOULDBLOCK else { return nil }
            let holder = FileLockHolder.all(of: file).first
            return .held(
                by: holder.map { LinkHolder(processID: $0.processID, command: $0.command) },
                note: DeviceLockNote(in: file))
        }
        return nil
    }

    // MARK: Files

    /// Opens a folder, and makes one that is missing, for all users.
    private static func openFolder(_ path: String) -> CInt? {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let folder = open(path, flags)
        if folder >= 0 { return folder }
        guard errno == ENOENT else { return nil }
        let isOurs = mkdir(path, 0o1777) == 0
        let made = open(path, flags)
        guard made >= 0 else { return nil }
        // Set apart from mkdir(2), which the umask cuts: a library must not change the process's umask.
        if isOurs { fchmod(made, 0o1777) }
        return made
    }

    /// Opens a file to be locked; nil where it can't be opened, or is no plain file.
    ///
    /// First without O_CREAT: with `fs.protected_regular`, as Debian has it, that fails on another user's file in a folder
    /// like this one. Then without writing, for which flock(2) does not ask.
    private func openLockFile(_ name: String, in folder: CInt) -> CInt? {
        let flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        var file = openFile(folder, name, O_RDWR | flags, 0)
        if file < 0, errno == ENOENT {
            file = openFile(folder, name, O_RDWR | O_CREAT | O_EXCL | flags, 0o666)
            if file >= 0 { fchmod(file, 0o666) }
            // Another program has just made it.
            if file < 0, errno == EEXIST { file = openFile(folder, name, O_RDWR | flags, 0) }
        }
        if file < 0, errno != ENOENT { file = openFile(folder, name, O_RDONLY | flags, 0) }
        guard file >= 0 else { return nil }
        var status = stat()
        // A second name could be that of a file which somebody wants to be written to.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else {
            close(file)
            return nil
        }
        return file
    }

    /// Whether a file is still what its name leads to.
    private static func isThere(_ file: CInt, _ name: String, in folder: CInt) -> Bool {
        var (own, found) = (stat(), stat())
        return fstat(file, &own) == 0 && fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0
            && own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    /// Also while the computer sleeps.
    private static func timeSinceBoot() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
