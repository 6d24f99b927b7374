internal import DescriptorIO
import Glibc

/// The users who may use a node of a file system, and the advice for one who was refused.
package struct NodePermissions {
    /// The user that the node belongs to.
    package var owner: String
    /// The group whose members may use it; nil if no group may, or nobody can or should join that group.
    package var group: String?
    /// Whether its mode admits this user, so that something else has refused: a container, or a rule of systemd.
    var isAdmitted: Bool

    /// The hint for a person whom a serial port at `path` refused.
    func hint(_ path: String) -> String {
        if isAdmitted {
            return "allow it to the container or service: docker run --device \(path), or DeviceAllow= in its unit"
        }
        // Debian gives ports to `dialout`, Arch to `uucp`: the node itself says which.
        if let group { return "join the port's group, then log in again: sudo usermod -aG \(group) $USER" }
        // No rule of udev reaches a pseudo-terminal.
        return PseudoTerminalPath.isTerminal(path)
            ? "run it as \(owner), whose terminal this is: sudo -u \(owner)"
            : "open the port to a group by a udev rule with MODE=\"0660\", GROUP=\"dialout\""
    }
}

extension NodePermissions {
    /// The permissions of a node; nil if they can't be seen.
    ///
    /// - Parameter access: What it is to be used for, as bits of the mode of others: 6 to read and write, 1 to enter a folder.
    package init?(path: String, access: UInt32 = 6) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let groupMayUse = status.st_mode >> 3 & access == access
        self.init(
            owner: HoldingProcess.name(of: status.st_uid), group: groupMayUse ? Self.joinable(status.st_gid) : nil,
            isAdmitted: geteuid() == 0 || (groupMayUse && Self.isMember(of: status.st_gid)))
    }

    /// The name of a group that one can join. To be in root's group is to be root in part, and the last one stands for groups
    /// of other user namespaces.
    private static func joinable(_ id: gid_t) -> String? {
        guard id != 0, id != 65534 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            let error = getgrgid_r(id, &entry, buffer.baseAddress, buffer.count, &found)
            return error == 0 && found != nil ? String(cString: entry.gr_name) : nil
        }
    }

    private static func isMember(of group: gid_t) -> Bool {
        var groups = [gid_t](repeating: getegid(), count: Int(max(0, getgroups(0, nil))) + 1)
        return getgroups(Int32(groups.count - 1), &groups) >= 0 && groups.contains(group)
    }
}
