internal import Glibc

/// An output file that must be complete to be useful. Until ``complete()``, the new content is in a file of another
/// name, `PATH.partial`. Only a terminal, a pipe or the like is written directly.
///
/// An existing regular file keeps its content until all of the new content replaces it. A partial file of an earlier
/// attempt is kept until new data is written.
public struct ReplacedFile: Sendable {
    /// The path of the file to replace; nil for standard output.
    public let path: String?
    /// The path without symbolic links of an existing file, so that a link stays; otherwise ``path``.
    private let target: String?
    /// The output for the new content.
    public let file: OutputFile
    private let wasPartThere: Bool

    /// Opens the partial file.
    ///
    /// - Parameter path: The file to replace or create; nil or `-` for standard output. Anything but a regular file,
    ///   such as a terminal, a pipe or /dev/null, is written directly, because it has no content to keep.
    public init(path: String?) throws(FileError) {
        let path = path == "-" ? nil : path
        self.path = path
        guard let path else {
            target = nil
            file = OutputFile()
            wasPartThere = false
            return
        }
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT == S_IFDIR { throw FileError(path: path, errno: EISDIR) }
        let isSpecial = isThere && status.st_mode & S_IFMT != S_IFREG
        let isLink = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
        let real = isThere && isLink ? realpath(path, nil) : nil
        defer { free(real) }
        let target = real.map { String(cString: $0) } ?? path
        self.target = target
        let place = isSpecial ? path : target + ".partial"
        wasPartThere = access(place, F_OK) == 0
        file = try OutputFile(path: place, .replaceWhenWritten)
    }

    /// The path of the file that is written; nil for standard output.
    public var place: String? { file.path }

    /// Whether the new content goes to a partial file, so that it can be discarded until ``complete()``.
    public var isBeside: Bool { place != path }

    /// Writes the complete content. If writing fails, an existing regular file stays unchanged.
    public func replace(with bytes: [UInt8]) throws(FileError) {
        do {
            try file.write(bytes)
            try complete()
        } catch {
            discard()
            throw error
        }
    }

    /// Calls `body`, which writes the complete content. If `body` or the replacement fails, an existing regular file
    /// stays unchanged.
    ///
    /// - Throws: The error of `body`; ``FileError`` if the file can't be replaced.
    public func replace(_ body: (OutputFile) async throws -> Void) async throws {
        do {
            try await body(file)
            try complete()
        } catch {
            discard()
            throw error
        }
    }

    /// Flushes the partial file to the disk and replaces the file at ``path`` with the partial file. Call this after
    /// all content was written. Does nothing if the output is written directly.
    public func complete() throws(FileError) {
        guard let path, let target, let place, isBeside else { return }
        try file.begin()
        // Flush before renaming, so that a crash can't leave a partial file under this path.
        try file.synchronize()
        guard rename(place, target) == 0 else { throw FileError(path: path, errno: errno) }
    }

    /// Deletes the partial file, unless an earlier attempt left it and nothing new was written.
    public func discard() {
        if let place, isBeside, file.hasBegun || !wasPartThere { unlink(place) }
    }
}
