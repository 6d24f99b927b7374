internal import Glibc

/// A process that holds an flock(2) lock on a file.
///
/// /proc/locks shows such processes to every user, with the file's device and inode. The descriptors in /proc/PID/fd
/// are visible only to root and to the process's own user.
package struct FileLockHolder: Sendable, Hashable {
    package var processID: Int32
    /// The command name, as the kernel reports it: at most 15 bytes; `?` if not visible.
    package var command: String

    fileprivate init(_ processID: Int32) {
        self.processID = processID
        let name = FileLocks.text(of: "/proc/\(processID)/comm", limit: 64)
        command = name.split(separator: "\n").first.map(String.init) ?? "?"
    }
}

/// A snapshot of all flock(2) locks from /proc/locks, which is read once for all files.
package struct FileLocks: Sendable {
    /// The holders of each file's locks. The key is the file's device and inode, such as `00:1a:123`.
    private(set) var processIDs: [Substring: [Int32]] = [:]

    /// Reads the current locks.
    package init() { self.init(lines: Self.text(of: "/proc/locks", limit: 1 << 20)) }

    /// Parses lines such as `1: FLOCK  ADVISORY  WRITE 4711 00:1a:123 0 EOF`. A process that waits for a lock has an
    /// arrow after the first number; a process in another container has no process ID here.
    init(lines: String) {
        for line in lines.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", let processID = Int32(fields[4]), processID > 0,
                processIDs[fields[5]]?.contains(processID) != true
            else { continue }
            processIDs[fields[5], default: []].append(processID)
        }
    }

    /// Returns the processes that hold a lock on the file behind a descriptor.
    package func holders(of descriptor: CInt) -> [FileLockHolder] {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? holders(status) : []
    }

    /// Returns the processes that hold a lock on the file at a path.
    package func holders(ofPath path: String) -> [FileLockHolder] {
        var status = stat()
        return stat(path, &status) == 0 ? holders(status) : []
    }

    private func holders(_ status: stat) -> [FileLockHolder] {
        let file = DeviceNumber(UInt64(status.st_dev)).hexadecimal + ":\(status.st_ino)"
        return processIDs[file[...], default: []].map { FileLockHolder($0) }
    }

    /// Reads a file of /proc, whose size is unknown before reading; empty if the file can't be read. Stops after
    /// `limit` bytes or a little more.
    fileprivate static func text(of path: String, limit: Int) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let piece = [UInt8](unsafeUninitializedCapacity: 16384) { buffer, count in
                count = max(0, read(file, buffer.baseAddress, buffer.count))
            }
            if piece.isEmpty { break }
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A device number, split into major and minor as in /proc/locks.
package struct DeviceNumber: Sendable, Hashable {
    package let major: UInt32
    package let minor: UInt32

    /// Splits a device number from stat(2), as `gnu_dev_major` and `gnu_dev_minor` do.
    package init(_ number: UInt64) {
        major = UInt32(truncatingIfNeeded: number >> 8 & 0xFFF | number >> 32 & 0xFFFF_F000)
        minor = UInt32(truncatingIfNeeded: number & 0xFF | number >> 12 & 0xFFFF_FF00)
    }

    /// The number as text such as `00:1a`, with at least two digits each.
    var hexadecimal: String {
        [major, minor].map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}
