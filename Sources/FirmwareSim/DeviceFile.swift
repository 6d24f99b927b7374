internal import Glibc

/// A file that an option of a simulated device names.
enum DeviceFile {
    /// All of the file; of one that is larger than `limit`, more than `limit` bytes of its beginning.
    static func bytes(of path: String, limit: Int) throws(DeviceFileError) -> [UInt8] {
        // What is no file must not hold up the program.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw DeviceFileError(errno: errno) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit {
            let count = read(file, &buffer, buffer.count)
            if count < 0 { throw DeviceFileError(errno: errno) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// The words of the system for an error.
    static func words(_ errno: Int32) -> String { String(cString: strerror(errno)) }
}

/// The reason of the system why a file can't be read.
struct DeviceFileError: Error {
    var errno: Int32
}
