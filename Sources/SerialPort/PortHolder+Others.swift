internal import DescriptorIO
import Glibc

extension PortHolder {
    /// Returns the other processes that have the device behind a path open, lock holders first.
    ///
    /// The program behind a pseudo-terminal is left out, since it is the device itself. Only root sees all processes of
    /// other users: see ``processesInSight()``.
    ///
    /// - Parameter path: The path of the port.
    public static func others(of path: String) -> [PortHolder] {
        others(of: path, in: OpenDevices())
    }

    static func others(of path: String, in devices: OpenDevices) -> [PortHolder] {
        all(of: path, in: devices).filter { $0.processID != getpid() && !devices.isDevice($0.processID, behind: path) }
    }

    /// Counts the processes whose open files this user may inspect (`seen`), and the others (`unseen`).
    public static func processesInSight() -> (seen: Int, unseen: Int) {
        var counts = (seen: 0, unseen: 0)
        for process in Folder.names(in: "/proc") where Int32(process) != nil {
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
