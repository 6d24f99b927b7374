internal import Glibc

/// A file could not be opened or written.
public struct FileError: Error, Sendable, Hashable {
    /// Where the file is; nil for standard output.
    public var path: String?
    /// What the system said.
    public var errno: Int32

    /// An error at a file.
    public init(path: String?, errno: Int32) {
        self.path = path
        self.errno = errno
    }
}

extension FileError: CustomStringConvertible {
    public var description: String { "\(path ?? "standard output"): \(String(cString: strerror(errno)))" }
}
