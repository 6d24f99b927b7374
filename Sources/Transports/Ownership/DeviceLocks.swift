internal import DescriptorIO
internal import Glibc
internal import LineProtocol

/// The lock files by which the programs of this computer agree on the owner of each BLE device: one file per device, in
/// one folder. A serial port needs none, because the port itself can be locked.
struct DeviceLocks: Sendable {
    /// The folders in order of preference. A device is locked in the first folder in which its lock file can be opened;
    /// a missing folder is created.
    var folders: [String]
    /// The time since boot, the same for all programs.
    var uptime: @Sendable () -> Duration = Self.timeSinceBoot
    /// Opens a file as openat(2) does. Tests replace this function.
    var openFile: @Sendable (CInt, String, CInt, mode_t) -> CInt = { openat($0, $1, $2, $3) }

    /// The folders of the system. All users share the first two; a third, if XDG_RUNTIME_DIR is an absolute path,
    /// belongs to this user alone, so a lock in it keeps out only this user's programs.
    static var system: DeviceLocks {
        var folders = ["/run/lock/pumpctl", "/tmp/pumpctl-lock"]
        if let own = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), own.hasPrefix("/") {
            folders.append(own + "/pumpctl")
        }
        return DeviceLocks(folders: folders)
    }

    /// The result of an attempt to lock a device.
    enum Attempt {
        case taken(DeviceLock)
        /// Another program, or this program for another link, holds the lock. The holder is nil if it is unknown, for
        /// example because it runs in another container.
        case held(by: LinkHolder?, note: DeviceLockNote?)
        /// No folder is usable.
        case unavailable
    }

    /// Tries to lock the device with this ``DeviceID``, without waiting.
    ///
    /// - Parameter note: The note for other programs.
    func attempt(_ id: String, as note: DeviceLockNote) -> Attempt {
        for path in folders {
            guard let folder = Self.openFolder(path) else { continue }
            defer { close(folder) }
            if let attempt = attempt(id, in: folder, as: note) { return attempt }
        }
        return .unavailable
    }

    /// Tries to lock the device in one folder. Returns nil if the folder is not usable.
    private func attempt(_ id: String, in folder: CInt, as note: DeviceLockNote) -> Attempt? {
        // Try again if another program removed the file after it was opened and before it was locked, for example to
        // clear /tmp.
        for _ in 0..<10 {
            guard let file = openLockFile(id, in: folder) else { return nil }
            if flock(file, LOCK_EX | LOCK_NB) == 0 {
                if Self.isThere(file, id, in: folder) { return .taken(DeviceLock(file, as: note, uptime: uptime)) }
                close(file)
                continue
            }
            defer { close(file) }
            guard errno == EWOULDBLOCK else { return nil }
            let holder = FileLocks().holders(of: file).first
            return .held(
                by: holder.map { LinkHolder(processID: $0.processID, command: $0.command) },
                note: DeviceLockNote(in: file))
        }
        return nil
    }

    // MARK: Files

    /// Opens a folder; nil if it can't be opened. Creates a missing folder for all users.
    private static func openFolder(_ path: String) -> CInt? {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let folder = open(path, flags)
        if folder >= 0 { return folder }
        guard errno == ENOENT else { return nil }
        let isOurs = mkdir(path, 0o1777) == 0
        let made = open(path, flags)
        guard made >= 0 else { return nil }
        // mkdir(2) applies the umask, and a library must not change the umask of its process: set the mode separately.
        if isOurs { fchmod(made, 0o1777) }
        return made
    }

    /// Opens a lock file; nil if it can't be opened, or is not a regular file with one name.
    ///
    /// The first attempt is without O_CREAT: with `fs.protected_regular`, Debian's default, O_CREAT fails for another
    /// user's file in a folder that all users may write to. The last attempt is for reading only, which is enough for
    /// flock(2).
    private func openLockFile(_ name: String, in folder: CInt) -> CInt? {
        let flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        var file = openFile(folder, name, O_RDWR | flags, 0)
        if file < 0, errno == ENOENT {
            file = openFile(folder, name, O_RDWR | O_CREAT | O_EXCL | flags, 0o666)
            if file >= 0 { fchmod(file, 0o666) }
            // Another program has just created the file.
            if file < 0, errno == EEXIST { file = openFile(folder, name, O_RDWR | flags, 0) }
        }
        if file < 0, errno != ENOENT { file = openFile(folder, name, O_RDONLY | flags, 0) }
        guard file >= 0 else { return nil }
        var status = stat()
        // A file with a second name may be a hard link to a file that an attacker wants this program to overwrite.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else {
            close(file)
            return nil
        }
        return file
    }

    /// Returns whether the name still leads to this file.
    private static func isThere(_ file: CInt, _ name: String, in folder: CInt) -> Bool {
        var (own, found) = (stat(), stat())
        return fstat(file, &own) == 0 && fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0
            && own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    /// Returns the time since boot, including the time that the computer was suspended.
    private static func timeSinceBoot() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
