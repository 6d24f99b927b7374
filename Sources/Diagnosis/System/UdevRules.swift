internal import Glibc

/// The installed files with our rules for udev.
struct UdevRules {
    /// The path of the rules for ports, in a folder that udev reads; nil if they are not installed.
    var ports: String?
    /// The path of the rule against brltty, which is installed as an example; nil if it is not there.
    var brltty: String?

    /// Returns the files that a package or `make install` has installed.
    ///
    /// - Parameter root: The folder that stands for `/`.
    static func installed(root: String = "") -> UdevRules {
        func first(_ name: String, in folders: [String]) -> String? {
            folders.map { "\(root)\($0)/\(name)" }.first { access($0, F_OK) == 0 }
        }
        return UdevRules(
            ports: first(
                "70-pumpctl-ports.rules",
                in: [
                    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
                    "/lib/udev/rules.d",
                ]),
            brltty: first(
                "99-pumpctl-brltty.rules",
                in: ["/usr/share/doc/pumpctl/examples", "/usr/share/doc/pumpctl", "/usr/local/share/doc/pumpctl"]))
    }
}
