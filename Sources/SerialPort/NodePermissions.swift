internal import DescriptorIO
import Glibc

/// The permissions of a file-system node, and hints for a user who was refused.
package struct NodePermissions {
    /// The name of the node's owner.
    package var owner: String
    /// The group whose members may use the node; nil if no group may, or if users can't or shouldn't join that group.
    package var group: String?
    /// Whether this user is root, or an owner or a member of a group that may use the node. If opening such a node fails
    /// with EACCES all the same, a container or a systemd rule forbids it.
    var isAdmitted: Bool

    /// Returns the group that this user can join to use the node; nil if there is none, or if joining would not help.
    ///
    /// - Parameter error: The errno value of the refused access.
    package func joinableGroup(after error: Int32) -> String? { isRefusedElsewhere(error) ? nil : group }

    /// Returns the hint for a user whose access to the serial port at `path` was refused with an errno value.
    func hint(_ path: String, after error: Int32 = EACCES) -> String {
        if isRefusedElsewhere(error) {
            return "give the container or service access: docker run --device \(path), or "
                + "DeviceAllow=\(path) rw in its unit"
        }
        // Debian assigns ports to `dialout`, Arch to `uucp`, so take the group from the node.
        if let group { return "join the port's group, then log in again: sudo usermod -aG \(group) $USER" }
        // udev rules do not apply to pseudo-terminals.
        return PseudoTerminalPath.isTerminal(path)
            ? "run the command as \(owner), the owner of this terminal: sudo -u \(owner)"
            : "let a group use the port: add a udev rule with MODE=\"0660\", GROUP=\"dialout\""
    }

    /// Whether a container or a systemd unit refused the access. The kernel first asks the node, which refuses with
    /// EACCES, and then the device cgroup, which refuses with EPERM.
    private func isRefusedElsewhere(_ error: Int32) -> Bool { isAdmitted || error == EPERM }
}

extension NodePermissions {
    /// Reads the permissions of a node; nil if `stat` fails.
    ///
    /// - Parameters:
    ///   - path: The path of the node.
    ///   - access: The permission bits that the use needs, as in an octal digit of a mode: 6 to read and write, 1 to
    ///     enter a folder.
    package init?(path: String, access: UInt32 = 6) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let groupMayUse = status.st_mode >> 3 & access == access
        self.init(
            owner: HoldingProcess.name(of: status.st_uid), group: groupMayUse ? Self.joinable(status.st_gid) : nil,
            isAdmitted: Self.admits(geteuid(), status, access))
    }

    /// Whether a user is root, or an owner or a member of a group that may use a node. The kernel does not ask for the
    /// group of an owner. The groups are those of this process.
    static func admits(_ user: uid_t, _ node: stat, _ access: UInt32) -> Bool {
        func mayUse(_ bits: UInt32) -> Bool { bits & access == access }
        if user == 0 { return true }
        if user == node.st_uid { return mayUse(node.st_mode >> 6) }
        return mayUse(node.st_mode >> 3) && isMember(of: node.st_gid)
    }

    /// Returns the name of a group that users can join; nil for group 0, whose members get some of root's rights, for
    /// 65534, which stands for groups of other user namespaces, and for a group without a name.
    private static func joinable(_ id: gid_t) -> String? {
        guard id != 0, id != 65534 else { return nil }
        // The buffer holds the names of all members. A group that needs more counts as one without a name.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            let error = getgrgid_r(id, &entry, buffer.baseAddress, buffer.count, &found)
            return error == 0 && found != nil ? String(cString: entry.gr_name) : nil
        }
    }

    private static func isMember(of group: gid_t) -> Bool {
        // getgroups(2) may leave out the effective group, so the array keeps one element for it.
        var groups = [gid_t](repeating: getegid(), count: Int(max(0, getgroups(0, nil))) + 1)
        return getgroups(Int32(groups.count - 1), &groups) >= 0 && groups.contains(group)
    }
}
