internal import CSerial

/// The identity of a pseudo-terminal on this computer, regardless of the names of its node.
///
/// Each container may have a file system of its own, with terminals of the same numbers. The kernel gives each such file
/// system another device number, so identities differ between containers too.
public struct PseudoTerminalID: Sendable, Hashable, CustomStringConvertible {
    private let fileSystem: UInt64
    private let number: UInt32

    /// Identifies the pseudo-terminal whose slave is at a path; nil if the path leads to anything else, such as a serial
    /// port.
    ///
    /// - Parameter path: A path of the slave; symbolic links are followed.
    public init?(at path: String) {
        var (number, fileSystem) = (UInt32(0), UInt64(0))
        guard cserial_pty_slave(path, &number, &fileSystem) == 0 else { return nil }
        (self.fileSystem, self.number) = (fileSystem, number)
    }

    /// The identity as text, such as `26:3`.
    public var description: String { "\(fileSystem):\(number)" }

    /// Returns the IDs of the processes that may be the device behind the terminal, as far as this user may see them.
    /// Each has the master of a terminal with this number open, perhaps in another container. Reads all of /proc, which
    /// may block.
    package func candidates() -> [Int32] {
        OpenDevices().masters.filter { $0.value.contains(number) }.keys.sorted()
    }
}
