import CSerial
import Glibc

/// A pseudo-terminal, as seen from its slave: tells the program behind it from the programs that use it.
///
/// The program that has the master is the device. It often keeps the slave open as well, so that the device survives its
/// clients; it takes nobody's answers by that.
struct PseudoTerminalOwner {
    /// The device number of /dev/ptmx and /dev/pts/ptmx: 5, 2.
    private static let multiplexer: UInt64 = 0x502

    private let number: UInt32
    private let fileSystem: UInt64

    /// - Returns: nil where no slave is behind the path.
    init?(slave path: String) {
        var (number, fileSystem) = (UInt32(0), UInt64(0))
        guard cserial_pty_slave(path, &number, &fileSystem) == 0 else { return nil }
        (self.number, self.fileSystem) = (number, fileSystem)
    }

    /// Whether a process has the slave open, and not the master: it uses the device.
    func isUsed(by processID: Int32) -> Bool {
        hasSlave(processID) && !hasMaster(processID)
    }

    /// Whether a process has this very slave open. Another container's may have the same device number.
    private func hasSlave(_ processID: Int32) -> Bool {
        let folder = "/proc/\(processID)/fd"
        return PortHolder.entries(of: folder).contains { descriptor in
            var (number, fileSystem) = (UInt32(0), UInt64(0))
            return cserial_pty_slave("\(folder)/\(descriptor)", &number, &fileSystem) == 0
                && number == self.number && fileSystem == self.fileSystem
        }
    }

    /// Whether a process has the master open: its descriptor's fdinfo has a line such as `tty-index:	5`.
    private func hasMaster(_ processID: Int32) -> Bool {
        let process = "/proc/\(processID)"
        return PortHolder.entries(of: "\(process)/fd").contains { descriptor in
            var (device, fileSystem) = (UInt64(0), UInt64(0))
            guard cserial_device_number("\(process)/fd/\(descriptor)", &device, &fileSystem) == 0,
                device == Self.multiplexer
            else { return false }
            return PortHolder.firstBytes(of: "\(process)/fdinfo/\(descriptor)").split(separator: "\n")
                .contains { $0 == "tty-index:\t\(number)" }
        }
    }
}
