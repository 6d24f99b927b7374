internal import Glibc
internal import Synchronization

/// The bytes of a capture, for several readers: separate readers find the family, each link, and the next link after a
/// loss.
///
/// Each reader reads a regular file itself. An input that can be read only once, such as a pipe, is opened once per
/// process and kept in memory: opening a FIFO again would wait for another writer.
final class CaptureBytes: Sendable {
    /// The inputs that can be read only once, by their paths. They stay in memory until the process ends.
    private static let opened = Mutex<[String: CaptureBytes]>([:])

    /// The `errno` of a failed open; nil on success.
    let failure: CInt?
    private let descriptor: CInt
    /// Whether readers read the input themselves. Also true for a folder, which can't be read, and after a failed open.
    private let isFile: Bool
    /// The bytes that were read so far, if the input is not a file.
    private let kept = Mutex<[UInt8]>([])

    private init(opening path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        failure = descriptor < 0 ? errno : nil
        var status = stat()
        isFile = fstat(descriptor, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the bytes at a path. Opens the path unless it is a known input that can be read only once.
    static func of(_ path: String) -> CaptureBytes {
        if let known = opened.withLock({ $0[path] }) { return known }
        let bytes = CaptureBytes(opening: path)
        if !bytes.isFile { opened.withLock { $0[path] = bytes } }
        return bytes
    }

    /// Reads bytes at an offset, at most as many as `buffer` has. If the input is not a file, all bytes before the
    /// offset must have been read.
    ///
    /// - Returns: The number of bytes; 0 at the end; -1 if reading fails, with the reason in `errno`.
    func read(into buffer: inout [UInt8], at offset: Int) -> Int {
        if isFile { return pread(descriptor, &buffer, buffer.count, offset) }
        return kept.withLock { kept in
            if offset == kept.count {
                let count = Glibc.read(descriptor, &buffer, buffer.count)
                if count <= 0 { return count }
                kept += buffer[..<count]
            }
            let part = kept[offset...].prefix(buffer.count)
            buffer.replaceSubrange(..<part.count, with: part)
            return part.count
        }
    }
}
