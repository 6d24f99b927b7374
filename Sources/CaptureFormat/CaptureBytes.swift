internal import Glibc
internal import Synchronization

/// The bytes of a capture, which several readers read: the family, each link, and the link behind a loss are found by a reader
/// of their own.
///
/// A file is read by each. What can be read only once, as a pipe, is opened once in a process and kept as it is read: opened
/// again, a FIFO would wait for another writer.
final class CaptureBytes: Sendable {
    /// Those that can be read only once, by their paths.
    private static let opened = Mutex<[String: CaptureBytes]>([:])

    /// Why it could not be opened, as `errno`; nil if it was.
    let failure: CInt?
    private let descriptor: CInt
    private let isFile: Bool
    /// What was read by now of what is no file.
    private let kept = Mutex<[UInt8]>([])

    private init(opening path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        failure = descriptor < 0 ? errno : nil
        var status = stat()
        isFile = fstat(descriptor, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Those at a path, which are opened unless they are known.
    static func of(_ path: String) -> CaptureBytes {
        if let known = opened.withLock({ $0[path] }) { return known }
        let bytes = CaptureBytes(opening: path)
        if !bytes.isFile { opened.withLock { $0[path] = bytes } }
        return bytes
    }

    /// Reads what stands at an offset, to which all before it was read. How many bytes there were, 0 at the end; -1, with
    /// `errno`, where reading fails.
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
