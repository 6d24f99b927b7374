import Glibc

extension PortHolder {
    /// The processes other than this one that use the device behind a path: first those that locked it.
    ///
    /// The program behind a pseudo-terminal is the device itself, and is left out. Processes of other users are seen by
    /// root only: see ``processesInSight()``.
    public static func others(of path: String) -> [PortHolder] {
        others(of: path, in: OpenDevices())
    }

    static func others(of path: String, in devices: OpenDevices) -> [PortHolder] {
        all(of: path, in: devices).filter { $0.processID != getpid() && !devices.isDevice($0.processID, behind: path) }
    }

    /// How many processes there are of which the open files can be looked at, and of which they can't.
    public static func processesInSight() -> (seen: Int, unseen: Int) {
        var counts = (seen: 0, unseen: 0)
        for process in entries(of: "/proc") where Int32(process) != nil {
            if let folder = opendir("/proc/\(process)/fd") {
                closedir(folder)
                counts.seen += 1
            } else if errno == EACCES || errno == EPERM {
                counts.unseen += 1
            }
        }
        return counts
    }
}
