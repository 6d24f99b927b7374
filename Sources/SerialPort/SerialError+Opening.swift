import CSerial
internal import DescriptorIO
import Glibc

extension SerialError {
    /// Creates the error for a failed open(2), whose errno values mean something else than on an open port.
    init(opening path: String, errno: Int32) {
        let activity = "opening"
        switch errno {
        case ENOENT, ENOTDIR, ELOOP:
            self.init(
                .noSuchPort, errno: errno, activity: activity, path: path,
                hint: PseudoTerminalPath.isLikely(path)
                    ? "check the path, and that the program that offers the port is running"
                    : "check the cable and the name: ls /dev/serial/by-id")
        case ENXIO, ENODEV, EIO:
            self.init(
                .noSuchPort, errno: errno, activity: activity, path: path,
                hint: "plug the device in again: no device is connected to this port")
        case EISDIR:
            self.init(
                .notATerminal, errno: errno, activity: activity, path: path,
                hint: "name a port in this directory")
        case EBUSY:
            // TIOCEXCL is set, by a process that need not have a lock.
            self.init(busy: path, isLocked: false)
        case EACCES, EPERM:
            self.init(
                .notPermitted, errno: errno, activity: activity, path: path,
                hint: NodePermissions(path: path)?.hint(path, after: errno)
                    ?? "check its folder's permissions: namei -l \(path)")
        default:
            self.init(errno: errno, activity: activity, path: path)
        }
    }

    /// Creates the error for a busy port, with its holder if the holder can be found.
    ///
    /// - Parameters:
    ///   - path: The path of the port.
    ///   - isLocked: Whether a lock is in the way. If true, a process that has the port open without a lock, such as
    ///     the simulator behind a pseudo-terminal, is not taken for the holder.
    init(busy path: String, isLocked: Bool) {
        // Lock files come last: their programs need not have the port open.
        let holder =
            PortHolder.all(of: path).first { $0.holdsLock || !isLocked } ?? PortHolder(lockFilesOf: path)
        let hint = holder.map { HoldingProcess($0.processID).endingHint } ?? Self.hint(onUnseenHolderOf: path)
        self.init(.busy(holder: holder), errno: EBUSY, activity: "opening", path: path, hint: hint)
    }

    /// Returns the hint for a busy port whose holder is unknown.
    ///
    /// - Parameters:
    ///   - path: The path of the port.
    ///   - seesAll: Whether this process sees the programs of all users.
    static func hint(onUnseenHolderOf path: String, seesAll: Bool = geteuid() == 0) -> String {
        seesAll
            ? "try again; if that fails too, end the program outside this container that has the port open"
            : "find the program, which may be another user's: sudo fuser -v \(path)"
    }
}
