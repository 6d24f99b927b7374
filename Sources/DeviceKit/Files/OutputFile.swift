internal import Glibc
internal import Synchronization

/// A file for results, or standard output.
///
/// ``write(_:)`` passes data to the system at once, so that no written data is lost if the program is killed.
public final class OutputFile: Sendable {
    /// The treatment of an existing file.
    public enum Mode: Sendable {
        /// New data is appended.
        case append
        /// The old content is removed at the first write, or at ``OutputFile/begin()``.
        case replaceWhenWritten
    }

    /// The path of the file; nil for standard output.
    public let path: String?
    private let descriptor: CInt
    /// Whether the file still holds its old content.
    private let holdsOldContent: Atomic<Bool>

    /// Creates an output to standard output.
    public init() {
        path = nil
        holdsOldContent = Atomic(false)
        descriptor = STDOUT_FILENO
    }

    /// Opens a file, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - path: The path of the file; `-` for standard output, as in other programs.
    ///   - mode: The treatment of an existing file.
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

    /// The size of the file in bytes; 0 if unknown.
    public var length: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether the output is a terminal.
    public var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether the old content was removed, which the first write does. Always true if no content is to be removed: for
    /// standard output, and in the mode ``Mode/append``.
    public var hasBegun: Bool { !holdsOldContent.load(ordering: .relaxed) }

    /// Removes the old content, in the mode ``Mode/replaceWhenWritten``. Does nothing if the old content was removed
    /// before.
    public func begin() throws(FileError) {
        guard holdsOldContent.exchange(false, ordering: .relaxed) else { return }
        // EINVAL: a pipe or a terminal has no content to remove.
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
            holdsOldContent.store(true, ordering: .relaxed)
            throw FileError(path: path, errno: errno)
        }
    }

    /// Waits until the written data is on the disk.
    public func synchronize() throws(FileError) {
        // A pipe or a terminal can't be flushed to a disk.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
            throw FileError(path: path, errno: errno)
        }
    }

    /// Writes all bytes, and waits while a non-blocking output is full.
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

    /// Generates lines and writes them in blocks, on a thread that may block.
    ///
    /// - Parameters:
    ///   - header: The first line, without its end; nil for none.
    ///   - lines: Starts to generate the other lines. Returns a function that returns the next line without its end, or
    ///     nil after the last line.
    /// - Throws: ``FileError``; the errors of `lines` and of the returned function; `CancellationError`.
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
