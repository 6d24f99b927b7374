internal import Glibc

/// Why a capture can't be written or read.
public struct CaptureError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable {
        /// There is a file of that name already, which is left as it is.
        case exists
        case notFound = "not_found"
        case notPermitted = "not_permitted"
        /// It is no capture, or a line of it is damaged.
        case notACapture = "not_a_capture"
        /// A later version wrote it.
        case newerVersion = "newer_version"
        /// It ends before what was looked for.
        case noSuchLink = "no_such_link"
        /// The system refused for another reason, as a full disk.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// The file.
    public var path: String
    /// The line of the file that is concerned, from 1; nil for none.
    public var line: Int?
    /// What is wrong, without the file's name.
    public var reason: String
    /// One thing that a person can do about it.
    public var hint: String

    init(_ code: Code, _ path: String, line: Int? = nil, _ reason: String, hint: String) {
        (self.code, self.path, self.line, self.reason, self.hint) = (code, path, line, reason, hint)
    }

    /// A capture that has fewer links than a program opens.
    package init(noLink number: Int, of count: Int, _ path: String) {
        self.init(
            .noSuchLink, path, count == 0 ? "no link was opened in it" : "all \(count) of its links were played",
            hint: "capture the session again, to the end of what is to be played")
    }

    /// What the system said.
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
