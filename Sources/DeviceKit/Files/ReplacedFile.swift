internal import Glibc

/// Where to write what counts only when it is whole: into a file under another name until then.
///
/// A file that is there keeps what it holds until it is replaced by all of the new. What an earlier try left under the
/// other name is kept until something new has come.
public struct ReplacedFile: Sendable {
    /// What was asked for; nil for standard output.
    public let path: String?
    /// Where what comes is written.
    public let file: OutputFile
    private let wasPartThere: Bool

    /// Opens the file beside it.
    ///
    /// - Parameter path: The file to be replaced or made; nil or `-` for standard output. A terminal, a pipe or /dev/null is
    ///   written to as it is: there is nothing to keep.
    public init(path: String?) throws(FileError) {
        let path = path == "-" ? nil : path
        self.path = path
        guard let path else {
            file = OutputFile()
            wasPartThere = false
            return
        }
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT == S_IFDIR { throw FileError(path: path, errno: EISDIR) }
        let isSpecial = isThere && status.st_mode & S_IFMT != S_IFREG
        let place = isSpecial ? path : path + ".partial"
        wasPartThere = access(place, F_OK) == 0
        file = try OutputFile(path: place, .replaceWhenWritten)
    }

    /// Where what came is; nil for standard output.
    public var place: String? { file.path }

    /// Whether what is written can still be discarded: it is beside the file until ``complete()``.
    public var isBeside: Bool { place != path }

    /// Writes all of it. If that fails, a file that is there is left as it was.
    public func replace(with bytes: [UInt8]) throws(FileError) {
        do {
            try file.write(bytes)
            try complete()
        } catch {
            discard()
            throw error
        }
    }

    /// Calls `body`, which writes all of it. If that fails, a file that is there is left as it was.
    public func replace(_ body: (OutputFile) async throws -> Void) async throws {
        do {
            try await body(file)
            try complete()
        } catch {
            discard()
            throw error
        }
    }

    /// It is whole.
    public func complete() throws(FileError) {
        guard let path, let place, isBeside else { return }
        try file.begin()
        // On the disk before it has the name: a crash must not leave half of it there.
        try file.synchronize()
        guard rename(place, path) == 0 else { throw FileError(path: path, errno: errno) }
    }

    /// It is not wanted.
    public func discard() {
        if let place, isBeside, file.hasBegun || !wasPartThere { unlink(place) }
    }
}
