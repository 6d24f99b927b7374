import Glibc

/// A file that a command writes its results to, or standard output.
///
/// What is written is with the system at once: nothing is lost where the program is killed.
final class OutputFile: Sendable {
    /// What opening does to a file that is there.
    enum Mode {
        case replace, append
    }

    /// Where it is; nil for standard output.
    let path: String?
    private let descriptor: CInt

    /// Standard output.
    init() {
        path = nil
        descriptor = STDOUT_FILENO
    }

    init(path: String, _ mode: Mode) throws(Failure) {
        let disposition = mode == .append ? O_APPEND : O_TRUNC
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | disposition, 0o666)
        self.path = path
        guard descriptor >= 0 else { throw Failure(file: path, errno: errno) }
    }

    deinit { if path != nil { close(descriptor) } }

    /// How many bytes the file holds; 0 where that can't be said.
    var length: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Waits until what was written is on the disk.
    func synchronize() throws(Failure) {
        // What is no file has no disk.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
            throw Failure(file: path ?? "standard output", errno: errno)
        }
    }

    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8]) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written) }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                var writable = pollfd(fd: descriptor, events: CShort(POLLOUT), revents: 0)
                poll(&writable, 1, -1)
            } else if errno != EINTR {
                throw Failure(file: path ?? "standard output", errno: errno)
            }
        }
    }
}

extension Failure {
    /// A file could not be opened or written.
    init(file path: String, errno: CInt) {
        let (status, code): (ExitStatus, String) =
            switch errno {
            case ENOENT, ENOTDIR, EISDIR: (.noInput, "not_found")
            case EACCES, EPERM, EROFS: (.noPermission, "not_permitted")
            case EPIPE: (.brokenPipe, "broken_pipe")
            default: (.ioError, "system")
            }
        self.init(status, code: code, "\(path): \(String(cString: strerror(errno)))", hint: "name another file")
    }

    /// Standard output takes no more.
    init(standardOutput errno: Int32) {
        self.init(file: "standard output", errno: errno)
        message += "; results are missing from it"
        hint = "make room, or send the results elsewhere"
    }
}
