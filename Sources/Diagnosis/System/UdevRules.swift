internal import Glibc

/// The installed files with pumpctl's rules for udev.
struct UdevRules {
    /// The USB vendor IDs of the devices off which the rules keep ModemManager, from
    /// hardware/udev/70-pumpctl-ports.rules.
    static let vendors: Set<UInt16> = [0x1A86, 0x4348, 0x0403, 0x10C4, 0x067B, 0x2341, 0x2A03, 0x303A]

    /// The path of the rules for ports, in a folder that udev reads; nil if they are not installed, or are disabled.
    var ports: String?
    /// The path of a link to /dev/null that disables the rules for ports; nil if there is none.
    var portsMask: String?
    /// The path of the rule against brltty, in a folder that udev reads; nil if it is not installed, or is disabled.
    var brltty: String?
    /// The path of the rule against brltty, which a package installs as an example; nil if it is not there.
    var brlttyExample: String?

    /// Returns the files that a package, `make install` or the user has installed.
    ///
    /// - Parameter root: The folder that stands for `/`.
    static func installed(root: String = "") -> UdevRules {
        func first(_ name: String, in folders: [String]) -> String? {
            folders.map { "\(root)\($0)/\(name)" }.first { access($0, F_OK) == 0 }
        }
        /// Returns the path of a file in the first of udev's folders that has it, or of a link to /dev/null, which
        /// disables the rules; nil if there is none.
        func found(_ name: String) -> String? {
            first(
                name,
                in: [
                    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
                    "/lib/udev/rules.d",
                ])
        }
        let ports = found("70-pumpctl-ports.rules")
        let isMasked = ports.map(isNull) == true
        return UdevRules(
            ports: isMasked ? nil : ports, portsMask: isMasked ? ports : nil,
            brltty: found("99-pumpctl-brltty.rules").flatMap { isNull($0) ? nil : $0 },
            brlttyExample: first(
                "99-pumpctl-brltty.rules",
                in: ["/usr/share/doc/pumpctl/examples", "/usr/share/doc/pumpctl", "/usr/local/share/doc/pumpctl"]))
    }

    /// Returns whether a path leads to a device such as /dev/null.
    private static func isNull(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    }
}
