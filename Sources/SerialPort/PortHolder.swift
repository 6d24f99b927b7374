internal import DescriptorIO
import Glibc

/// A process that has a port open.
///
/// ```swift
/// for holder in PortHolder.all(of: "/dev/ttyUSB0") { print(holder) }  // minicom (pid 4711)
/// ```
public struct PortHolder: Sendable, Hashable {
    /// The process.
    public var processID: Int32
    /// Its command name, as the kernel has it: at most 15 bytes.
    public var command: String
    /// Whether it has locked the port, by flock(2), and not only opened it.
    public var holdsLock: Bool
    /// How many descriptors it has for the port, 1 or more.
    public var descriptorCount: Int

    /// A holder with all its parts.
    public init(processID: Int32, command: String, holdsLock: Bool, descriptorCount: Int = 1) {
        self.processID = processID
        self.command = command
        self.holdsLock = holdsLock
        self.descriptorCount = descriptorCount
    }

    /// The processes that have the device behind a path open: first those that locked it, last this one.
    ///
    /// Nodes are compared by device number, so a holder that came by another name, or in a container, is found too. Only
    /// pseudo-terminals are also compared by their file system: a container has its own, with terminals of the same numbers.
    /// Of other users' processes only root sees those without a lock.
    public static func all(of path: String) -> [PortHolder] {
        all(of: path, in: OpenDevices())
    }

    static func all(of path: String, in devices: OpenDevices) -> [PortHolder] {
        let visible = devices.holders(of: path)
        let hidden = locking(path).filter { holder in !visible.contains { $0.processID == holder.processID } }
        return (visible + hidden).sorted { $0.rank < $1.rank }
    }

    /// The processes that have the node at a path locked, of whichever user.
    static func locking(_ path: String) -> [PortHolder] {
        FileLockHolder.all(ofPath: path).map {
            PortHolder(processID: $0.processID, command: $0.command, holdsLock: true)
        }
    }

    private var rank: Int {
        (holdsLock ? 0 : 2) + (processID == getpid() ? 1 : 0)
    }

    static func entries(of directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(entry.pointee.d_reclen)) { String(cString: $0) }
            }
            if name.first != "." { names.append(name) }
        }
        return names
    }

    /// What a small file of /proc says; empty where it cannot be read.
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
    /// As in `minicom (pid 4711)`.
    public var description: String { "\(command) (pid \(processID))" }
}
