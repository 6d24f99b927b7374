/// The other programs that use a port, according to open descriptors, locks and lock files.
///
/// ```swift
/// let use = PortUse.now(of: "/dev/ttyUSB0")
/// for holder in use.holders { print(holder) }  // minicom (pid 4711)
/// ```
public struct PortUse: Sendable, Hashable {
    /// The path of the port, as the caller gave it.
    public var path: String
    /// The processes that have the port open, as far as this user may see: see ``PortHolder/others(of:)``.
    public var holders: [PortHolder]
    /// The lock files for the port, except lock files that name this process.
    public var lockFiles: [LockFile]

    /// Creates a description of the programs that use a port.
    ///
    /// - Parameters:
    ///   - path: The path of the port.
    ///   - holders: The processes that have the port open.
    ///   - lockFiles: The lock files for the port.
    public init(path: String, holders: [PortHolder], lockFiles: [LockFile]) {
        self.path = path
        self.holders = holders
        self.lockFiles = lockFiles
    }

    /// Finds the other programs that use a port, without opening the port.
    ///
    /// The cost grows with the number of open files of all processes: some 0.4 ms on a small machine.
    ///
    /// - Parameters:
    ///   - path: The path of the port.
    ///   - lockFolder: The folder with the lock files.
    public static func now(of path: String, lockFolder: String = LockFile.folder) -> PortUse {
        PortUse(path: path, in: OpenDevices(), lockFolder)
    }

    /// Finds the other programs that use a port now, or that used it at some time since `earliest`.
    ///
    /// A scan of all processes that began at `earliest` or later is reused. If a program opens all its ports before the
    /// first call, one scan serves all of them.
    ///
    /// - Parameters:
    ///   - path: The path of the port.
    ///   - earliest: The earliest start of a scan that may be reused.
    public static func seen(of path: String, since earliest: ContinuousClock.Instant) -> PortUse {
        PortUse(path: path, in: OpenDevices.Memory.shared.devices(since: earliest), LockFile.folder)
    }

    private init(path: String, in devices: OpenDevices, _ lockFolder: String) {
        self.init(
            path: path, holders: PortHolder.others(of: path, in: devices),
            lockFiles: LockFile.all(of: path, in: lockFolder))
    }

    /// The lock files of running programs that do not visibly have the port open, such as other users' programs.
    public var claims: [LockFile] {
        lockFiles.filter { file in
            file.holder != nil && !holders.contains { $0.processID == file.processID }
        }
    }
}
