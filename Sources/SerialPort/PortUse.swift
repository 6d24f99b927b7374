/// Which other programs use a port now, by all that tells.
///
/// ```swift
/// let use = PortUse.now(of: "/dev/ttyUSB0")
/// for holder in use.holders { print(holder) }  // minicom (pid 4711)
/// ```
public struct PortUse: Sendable, Hashable {
    /// The port, as it was named.
    public var path: String
    /// The processes that have it open, as far as they can be seen: see ``PortHolder/others(of:)``.
    public var holders: [PortHolder]
    /// The lock files that name it.
    public var lockFiles: [LockFile]

    /// What is known of a port's users, in all its parts.
    public init(path: String, holders: [PortHolder], lockFiles: [LockFile]) {
        self.path = path
        self.holders = holders
        self.lockFiles = lockFiles
    }

    /// Looks at who uses a port. It is not opened, and what this costs grows with the number of open files of all processes:
    /// some 0.4 ms on a small machine.
    ///
    /// - Parameter lockFolder: Where the lock files are.
    public static func now(of path: String, lockFolder: String = LockFile.folder) -> PortUse {
        PortUse(path: path, in: OpenDevices(), lockFolder)
    }

    /// Looks at who uses a port, or has used it since `earliest`. Many ports cost no more than one, if they were all opened
    /// before the first of them is looked at.
    public static func seen(of path: String, since earliest: ContinuousClock.Instant) -> PortUse {
        PortUse(path: path, in: OpenDevices.Memory.shared.devices(since: earliest), LockFile.folder)
    }

    private init(path: String, in devices: OpenDevices, _ lockFolder: String) {
        self.init(
            path: path, holders: PortHolder.others(of: path, in: devices),
            lockFiles: LockFile.all(of: path, in: lockFolder))
    }

    /// The lock files of programs that run and were not seen to have the port open, as those of other users.
    public var claims: [LockFile] {
        lockFiles.filter { file in
            file.holder != nil && !holders.contains { $0.processID == file.processID }
        }
    }
}
