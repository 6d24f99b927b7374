internal import Glibc

/// A failure to write or read a capture.
public struct CaptureError: Error, Sendable, Hashable {
    /// The kinds of failure that callers handle differently.
    public enum Code: String, Sendable, Hashable {
        /// A file of this name exists, and stays unchanged.
        case exists
        /// There is no file of this name.
        case notFound = "not_found"
        /// This user may not read or write the file.
        case notPermitted = "not_permitted"
        /// The file is not a capture, or one of its lines is damaged.
        case notACapture = "not_a_capture"
        /// The capture has a later version of the format than this program knows.
        case newerVersion = "newer_version"
        /// The capture has fewer links than the program opens.
        case noSuchLink = "no_such_link"
        /// Any other failure of the system, such as a full disk.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// The path of the file.
    public var path: String
    /// The number of the damaged line, from 1; nil if the error does not concern a single line.
    public var line: Int?
    /// The reason, without the file's name.
    public var reason: String
    /// One action that may solve the problem, for people.
    public var hint: String

    init(_ code: Code, _ path: String, line: Int? = nil, _ reason: String, hint: String) {
        (self.code, self.path, self.line, self.reason, self.hint) = (code, path, line, reason, hint)
    }

    /// Creates the error of a program that opens more links than the capture has.
    ///
    /// - Parameters:
    ///   - number: The number of the missing link.
    ///   - count: The number of links in the capture.
    package init(noLink number: Int, of count: Int, _ path: String) {
        self.init(
            .noSuchLink, path,
            count == 0 ? "the capture contains no link" : "link \(number) was opened, the capture has only \(count)",
            hint: "capture the session again, up to the end of the replay")
    }

    /// Creates an error from `errno`.
    package init(errno: CInt, _ path: String, hint: String) {
        let code: Code =
            switch errno {
            case EEXIST: .exists
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM, EROFS: .notPermitted
            default: .system
            }
        self.init(code, path, String(cString: strerror(errno)), hint: hint)
    }
}

extension CaptureError: CustomStringConvertible {
    public var description: String { path + (line.map { ":\($0)" } ?? "") + ": " + reason }
}
