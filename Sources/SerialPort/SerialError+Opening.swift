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
                hint: "check the cable and the name: ls /dev/serial/by-id")
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
                hint: NodePermissions(path: path)?.hint)
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
        let hint =
            if let holder {
                HoldingProcess(holder.processID).endingHint
            } else {
                "find the program, which is another user's: sudo fuser -v \(path)"
            }
        self.init(.busy(holder: holder), errno: EBUSY, activity: "opening", path: path, hint: hint)
    }
}

/// Who may use a device node, and what someone who may not can do about it.
package struct NodePermissions {
    /// The group that the node is of.
    package var group: String
    var groupMayUse: Bool

    /// The hint for a person whom the node refused.
    var hint: String {
        // Debian gives ports to `dialout`, Arch to `uucp`: the node itself says which.
        groupMayUse
            ? "join the port's group, then log in again: sudo usermod -aG \(group) $USER"
            : "open the port to a group by a udev rule with MODE=\"0660\", GROUP=\"dialout\""
    }
}

extension NodePermissions {
    /// The permissions of a node; nil where they cannot be seen.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(
            group: Self.name(ofGroup: status.st_gid) ?? String(status.st_gid),
            groupMayUse: status.st_mode & 0o060 == 0o060)
    }

    private static func name(ofGroup id: gid_t) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            let error = getgrgid_r(id, &entry, buffer.baseAddress, buffer.count, &found)
            return error == 0 && found != nil ? String(cString: entry.gr_name) : nil
        }
    }
}
