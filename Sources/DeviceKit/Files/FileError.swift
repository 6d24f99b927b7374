internal import Glibc

/// The failure to open, read or write a file.
public struct FileError: Error, Sendable, Hashable {
    /// The path of the file; nil for standard output.
    public var path: String?
    /// The error number of the system.
    public var errno: Int32

    /// Creates an error for a file.
    public init(path: String?, errno: Int32) {
        self.path = path
        self.errno = errno
    }
}

extension FileError: CustomStringConvertible {
    public var description: String { "\(path ?? "standard output"): \(String(cString: strerror(errno)))" }
}
