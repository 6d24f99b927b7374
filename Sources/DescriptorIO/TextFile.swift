internal import Glibc

/// Access to text files of the system, such as in /proc.
package enum TextFile {
    /// Returns the contents of a file; nil if it can't be read.
    package static func contents(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        return withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer in
            while true {
                let count = read(file, buffer.baseAddress, buffer.count)
                if count < 0 { return nil }
                if count == 0 { return String(decoding: bytes, as: UTF8.self) }
                bytes.append(contentsOf: buffer.prefix(count))
            }
        }
    }
}
