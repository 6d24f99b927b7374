internal import Glibc
internal import Synchronization

/// A capture that is being written.
///
/// Each line is one write to the end of the file: a killed program leaves complete lines, and at most one truncated
/// line.
package final class CaptureFile: Sendable {
    package let path: String
    private let descriptor: CInt
    /// Whether a write has failed. Nothing is written after a failure.
    private let hasFailed = Mutex(false)

    /// Creates a new file and writes the header.
    ///
    /// - Throws: ``CaptureError``, with `exists` if there is a file at the path.
    package init(at path: String, _ header: CaptureHeader) throws(CaptureError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            let hint =
                errno == EEXIST
                ? "name another file, or remove this one: a capture is never overwritten"
                : "name a file in a folder that you may write to"
            throw CaptureError(errno: errno, path, hint: hint)
        }
        do throws(CaptureError) { try put(header.json) } catch {
            // A file without a header is not a capture, and would block the next attempt.
            unlink(path)
            throw error
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Writes an event. Nothing is written after a failure: a capture with a gap could not be replayed.
    ///
    /// - Throws: ``CaptureError`` for the first failure only.
    package func append(_ event: CaptureEvent) throws(CaptureError) { try put(event.json) }

    private func put(_ json: String) throws(CaptureError) {
        var line = json + "\n"
        let failure = hasFailed.withLock { hasFailed -> CInt? in
            guard !hasFailed else { return nil }
            let errno = line.withUTF8 { Self.write($0, to: descriptor) }
            hasFailed = errno != nil
            return errno
        }
        guard let failure else { return }
        let cure =
            switch failure {
            case ENOSPC, EDQUOT: "free space on the disk"
            case EFBIG: "raise the limit on file sizes (ulimit -f)"
            default: "check the disk"
            }
        throw CaptureError(errno: failure, path, hint: "\(cure), then capture to another file")
    }

    /// Writes all bytes.
    ///
    /// - Returns: The `errno` of a failure; nil on success.
    private static func write(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: CInt) -> CInt? {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            // When the disk fills up, the system writes a part of the bytes, and only the next call reports the reason.
            if count > 0 { rest = UnsafeBufferPointer(rebasing: rest[count...]) }
            if count == 0 { return ENOSPC }
            if count < 0, errno != EINTR { return errno }
        }
        return nil
    }
}
