import CSerial
internal import DescriptorIO
import Glibc

extension SerialError {
    /// The error for an open(2) that failed: the same errno says other things there than on an open port.
    init(opening path: String, errno: Int32) {
        let activity = "opening"
        switch errno {
        case ENOENT, ENOTDIR, ELOOP:
            self.init(
                .noSuchPort, errno: errno, activity: activity, path: path,
                hint: PseudoTerminalPath.isLikely(path)
                    ? "check the path, and that the program runs which offers the port"
                    : "check the cable and the name: ls /dev/serial/by-id")
        case ENXIO, ENODEV, EIO:
            self.init(
                .noSuchPort, errno: errno, activity: activity, path: path,
                hint: "plug the device in again: nothing answers behind this node")
        case EISDIR:
            self.init(
                .notATerminal, errno: errno, activity: activity, path: path,
                hint: "name a port in it: this is a directory")
        case EBUSY:
            self.init(busy: path, isLocked: false)
        case EACCES, EPERM:
            self.init(
                .notPermitted, errno: errno, activity: activity, path: path,
                hint: NodePermissions(path: path)?.hint(path) ?? "look at who may enter its folder: namei -l \(path)")
        default:
            self.init(errno: errno, activity: activity, path: path)
        }
    }

    /// The error for a port that someone holds, with the holder where it can be found.
    ///
    /// - Parameter isLocked: Whether a lock is in the way, so that nobody without one is to blame: not the simulator
    ///   behind a pseudo-terminal, nor this process.
    init(busy path: String, isLocked: Bool) {
        // What a lock file says comes last: its program need not have the port.
        let holder =
            PortHolder.all(of: path).first { $0.holdsLock || !isLocked } ?? PortHolder(lockFilesOf: path)
        let hint = holder.map { HoldingProcess($0.processID).endingHint } ?? Self.hint(onUnseenHolderOf: path)
        self.init(.busy(holder: holder), errno: EBUSY, activity: "opening", path: path, hint: hint)
    }

    /// The advice on a program that can't be named.
    ///
    /// - Parameter seesAll: Whether the programs of all users are seen.
    static func hint(onUnseenHolderOf path: String, seesAll: Bool = geteuid() == 0) -> String {
        seesAll
            ? "try again; if that fails too, end the program outside this container that has it"
            : "find the program, which may be another user's: sudo fuser -v \(path)"
    }
}
