import Glibc
import Synchronization

/// A file that a command writes its results to, or standard output.
///
/// What is written is with the system at once: nothing is lost where the program is killed.
final class OutputFile: Sendable {
    /// What opening does to a file that is there.
    enum Mode {
        case replace, append
        /// It is replaced once something is written, or ``OutputFile/begin()`` is called.
        case replaceWhenWritten
    }

    /// Where it is; nil for standard output.
    let path: String?
    private let descriptor: CInt
    /// Whether it still holds what it held before.
    private let holdsOldContent: Atomic<Bool>

    /// Standard output.
    init() {
        path = nil
        holdsOldContent = Atomic(false)
        descriptor = STDOUT_FILENO
    }

    /// - Parameter path: Where it is; `-` for standard output, as with other programs.
    init(path: String, _ mode: Mode) throws(Failure) {
        holdsOldContent = Atomic(mode == .replaceWhenWritten && path != "-")
        if path == "-" {
            self.path = nil
            descriptor = STDOUT_FILENO
            return
        }
        let disposition =
            switch mode {
            case .replace: O_TRUNC
            case .append: O_APPEND
            case .replaceWhenWritten: CInt(0)
            }
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

    /// Whether something was written, or a file that is replaced was emptied.
    var hasBegun: Bool { !holdsOldContent.load(ordering: .relaxed) }

    /// Empties a file that is to be replaced.
    func begin() throws(Failure) {
        guard holdsOldContent.exchange(false, ordering: .relaxed) else { return }
        // What is no file has nothing to lose.
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
            throw Failure(file: path ?? "standard output", errno: errno)
        }
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
        try begin()
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
            case EFBIG: (.ioError, "too_large")
            default: (.ioError, "system")
            }
        self.init(status, code: code, "\(path): \(String(cString: strerror(errno)))", hint: "name another file")
    }

    /// Standard output takes no more.
    ///
    /// - Parameter outcome: What the command has done, which nobody could read there.
    init(standardOutput errno: Int32, outcome: String? = nil) {
        self.init(file: "standard output", errno: errno)
        message += outcome.map { "; the command was carried out: \($0)" } ?? "; results are missing from it"
        hint = "make room, or send the results elsewhere"
    }
}
