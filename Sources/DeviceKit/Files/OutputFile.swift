internal import Glibc
internal import Synchronization

/// A file that results are written to, or standard output.
///
/// What is written is with the system at once: nothing is lost where the program is killed.
public final class OutputFile: Sendable {
    /// What opening does to a file that is there.
    public enum Mode: Sendable {
        /// What is written comes behind what it holds.
        case append
        /// It is replaced once something is written, or ``OutputFile/begin()`` is called.
        case replaceWhenWritten
    }

    /// Where it is; nil for standard output.
    public let path: String?
    private let descriptor: CInt
    /// Whether it still holds what it held before.
    private let holdsOldContent: Atomic<Bool>

    /// Standard output.
    public init() {
        path = nil
        holdsOldContent = Atomic(false)
        descriptor = STDOUT_FILENO
    }

    /// Opens a file, which is made where it is not there.
    ///
    /// - Parameter path: Where it is; `-` for standard output, as with other programs.
    public init(path: String, _ mode: Mode) throws(FileError) {
        holdsOldContent = Atomic(mode == .replaceWhenWritten && path != "-")
        if path == "-" {
            self.path = nil
            descriptor = STDOUT_FILENO
            return
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (mode == .append ? O_APPEND : 0), 0o666)
        self.path = path
        guard descriptor >= 0 else { throw FileError(path: path, errno: errno) }
    }

    deinit { if path != nil { close(descriptor) } }

    /// How many bytes the file holds; 0 where that can't be said.
    public var length: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether what is written is shown on a terminal.
    public var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether something was written, or a file that is replaced was emptied.
    public var hasBegun: Bool { !holdsOldContent.load(ordering: .relaxed) }

    /// Empties a file that is to be replaced.
    public func begin() throws(FileError) {
        guard holdsOldContent.exchange(false, ordering: .relaxed) else { return }
        // What is no file has nothing to lose.
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
            throw FileError(path: path, errno: errno)
        }
    }

    /// Waits until what was written is on the disk.
    public func synchronize() throws(FileError) {
        // What is no file has no disk.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
            throw FileError(path: path, errno: errno)
        }
    }

    /// Writes all of `bytes`.
    public func write(_ bytes: [UInt8]) throws(FileError) {
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
                throw FileError(path: path, errno: errno)
            }
        }
    }

    /// Writes lines as they are made, many of them at once, on a thread that may wait.
    ///
    /// - Parameters:
    ///   - header: The first line, without its end; nil for none.
    ///   - lines: Begins to make the others, and gives what makes the next one: without its end, nil behind the last.
    /// - Throws: ``FileError``; what `lines` throws; `CancellationError`.
    public func writeLines(
        header: [UInt8]? = nil, _ lines: @escaping @Sendable () throws -> (() throws -> [UInt8]?)
    ) async throws {
        try await aside {
            let next = try lines()
            var block = header.map { $0 + [0x0A] } ?? []
            while let line = try next() {
                try Task.checkCancellation()
                block += line + [0x0A]
                guard block.count >= 1 << 16 else { continue }
                try self.write(block)
                block.removeAll(keepingCapacity: true)
            }
            try self.write(block)
        }
    }
}
