internal import Glibc
internal import Synchronization

/// A capture that is being written.
///
/// Each line is one write to the end of the file: a program that is killed leaves whole lines, and at most one that was cut.
package final class CaptureFile: Sendable {
    package let path: String
    private let descriptor: CInt
    /// Nothing is written any more: the file has ended with an error.
    private let hasFailed = Mutex(false)

    /// Makes a file, which must not be there yet, and writes the header.
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
            // Without a header it is no capture, and in the way of the next one.
            unlink(path)
            throw error
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Writes an event. Once one could not be written no more are: a capture with a gap could not be played back.
    ///
    /// - Throws: Why it could not be written; only the first time.
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

    /// - Returns: Why not all was written; nil where it was.
    private static func write(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: CInt) -> CInt? {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            // The system writes less than was asked for as the room ends; only the next call tells why.
            if count > 0 { rest = UnsafeBufferPointer(rebasing: rest[count...]) }
            if count == 0 { return ENOSPC }
            if count < 0, errno != EINTR { return errno }
        }
        return nil
    }
}
