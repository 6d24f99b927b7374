internal import DescriptorIO
import Glibc

/// A process that has a port open, or claims it by a lock file.
///
/// ```swift
/// for holder in PortHolder.all(of: "/dev/ttyUSB0") { print(holder) }  // minicom (pid 4711)
/// ```
public struct PortHolder: Sendable, Hashable {
    /// The process ID.
    public var processID: Int32
    /// The command name of the process, as the kernel reports it: at most 15 bytes; `?` if unknown.
    public var command: String
    /// Whether the process holds an flock(2) lock on the port, or claims the port by a lock file.
    public var holdsLock: Bool
    /// The number of descriptors that the process has for the port; 1 if unknown.
    public var descriptorCount: Int

    /// Creates a description of a process that uses a port.
    ///
    /// - Parameters:
    ///   - processID: The process ID.
    ///   - command: The command name of the process.
    ///   - holdsLock: Whether the process holds a lock on the port, or claims it by a lock file.
    ///   - descriptorCount: The number of descriptors that the process has for the port; 1 if unknown.
    public init(processID: Int32, command: String, holdsLock: Bool, descriptorCount: Int = 1) {
        self.processID = processID
        self.command = command
        self.holdsLock = holdsLock
        self.descriptorCount = descriptorCount
    }

    /// Returns the processes that have the device behind a path open: lock holders first. Among the lock holders, and
    /// among the others, this process comes last.
    ///
    /// Nodes are compared by device number, which also finds holders that opened the device by another name or in a
    /// container. Pseudo-terminals are also compared by file system, since each container has a file system of its own,
    /// with terminals of the same numbers. Other users' processes that have no lock are visible to root only.
    ///
    /// - Parameter path: The path of the port.
    public static func all(of path: String) -> [PortHolder] {
        all(of: path, in: OpenDevices())
    }

    static func all(of path: String, in devices: OpenDevices) -> [PortHolder] {
        let visible = devices.holders(of: path)
        let hidden = locking(path, devices.locks).filter { holder in
            !visible.contains { $0.processID == holder.processID }
        }
        return (visible + hidden).sorted { $0.rank < $1.rank }
    }

    /// Returns the processes of any user that hold a lock on the node at a path.
    static func locking(_ path: String, _ locks: FileLocks) -> [PortHolder] {
        locks.holders(ofPath: path).map {
            PortHolder(processID: $0.processID, command: $0.command, holdsLock: true)
        }
    }

    /// The position in lists: lower ranks come first.
    private var rank: Int {
        (holdsLock ? 0 : 2) + (processID == getpid() ? 1 : 0)
    }

    /// Returns the first 4096 bytes of a file, as text; empty if the file can't be read. Meant for the small files of
    /// /proc.
    static func firstBytes(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        }
    }
}

extension PortHolder: CustomStringConvertible {
    /// A description such as `minicom (pid 4711)`.
    public var description: String { "\(command) (pid \(processID))" }
}
