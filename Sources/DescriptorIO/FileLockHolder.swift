internal import Glibc

/// A process that holds a lock of flock(2) on a file.
///
/// /proc/locks names it to every user, by the file's device and inode, whereas the descriptors below /proc/PID/fd are
/// shown to the process's own user only.
package struct FileLockHolder: Sendable, Hashable {
    package var processID: Int32
    /// Its command name, as the kernel has it: at most 15 bytes; `?` where it may not be known.
    package var command: String

    /// The processes that hold a lock on the file behind a descriptor.
    package static func all(of descriptor: CInt) -> [FileLockHolder] {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? all(status) : []
    }

    /// The processes that hold a lock on the file at a path.
    package static func all(ofPath path: String) -> [FileLockHolder] {
        var status = stat()
        return stat(path, &status) == 0 ? all(status) : []
    }

    private static func all(_ status: stat) -> [FileLockHolder] {
        let file = DeviceNumber(UInt64(status.st_dev)).hexadecimal + ":\(status.st_ino)"
        return processIDs(holding: file, in: text(of: "/proc/locks", limit: 1 << 20)).map { processID in
            let command = text(of: "/proc/\(processID)/comm", limit: 64)
            return FileLockHolder(
                processID: processID, command: command.split(separator: "\n").first.map(String.init) ?? "?")
        }
    }

    /// Who holds a lock, by lines such as `1: FLOCK  ADVISORY  WRITE 4711 00:1a:123 0 EOF`. Who waits for one has an arrow
    /// behind the number; who is in another container has no process number here.
    ///
    /// - Parameter file: The device and the inode, as `00:1a:123`.
    static func processIDs(holding file: String, in locks: String) -> [Int32] {
        var found: [Int32] = []
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", fields[5] == file, let processID = Int32(fields[4]),
                processID > 0, !found.contains(processID)
            else { continue }
            found.append(processID)
        }
        return found
    }

    /// What a file of /proc says, which has no length before it is read; empty where it can't be read.
    private static func text(of path: String, limit: Int) -> String {
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

/// The number of a device, in the two parts that people and /proc/locks write.
package struct DeviceNumber: Sendable, Hashable {
    package let major: UInt32
    package let minor: UInt32

    /// Takes apart what stat(2) says, as `gnu_dev_major` and `gnu_dev_minor` do.
    package init(_ number: UInt64) {
        major = UInt32(truncatingIfNeeded: number >> 8 & 0xFFF | number >> 32 & 0xFFFF_F000)
        minor = UInt32(truncatingIfNeeded: number & 0xFF | number >> 12 & 0xFFFF_FF00)
    }

    /// As in `00:1a`: at least two digits each.
    var hexadecimal: String {
        [major, minor].map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}
