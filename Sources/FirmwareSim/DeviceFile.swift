internal import Glibc

/// A file that an option of a simulated device names.
enum DeviceFile {
    /// All of the file, which has `limit` bytes at most.
    static func bytes(of path: String, limit: Int) throws(DeviceFileError) -> [UInt8] {
        // What is no file must not hold up the program.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw DeviceFileError(.unreadable(errno: errno), path: path) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0 { throw DeviceFileError(.unreadable(errno: errno), path: path) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            if bytes.count > limit { throw DeviceFileError(.tooLarge(limit: limit), path: path) }
        }
    }
}

/// A failure to use the file that an option of a simulated device names.
public struct DeviceFileError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// The file can't be read.
        case unreadable(errno: Int32)
        /// It has more bytes than are taken.
        case tooLarge(limit: Int)
        /// It is to be an image, and is no PNG.
        case notPNG
        /// It is to be an ``AnswerScript``, and the line of that number, from 1, has none of the forms.
        case malformed(line: Int)
    }

    /// The kind of failure.
    public var code: Code
    /// The file.
    public var path: String

    /// An error of the given kind.
    public init(_ code: Code, path: String) {
        self.code = code
        self.path = path
    }

    /// What a person can do about it.
    public var hint: String {
        switch code {
        case .unreadable: "name another file"
        case .tooLarge: "name a smaller file"
        case .notPNG: "name a PNG file, or convert this one to PNG first"
        case .malformed: "begin it with '>' for a line of the host, '>!' for one character, '<' for an answer, or '#'"
        }
    }
}

extension DeviceFileError: CustomStringConvertible {
    public var description: String {
        switch code {
        case .unreadable(let errno): "\(path): \(String(cString: strerror(errno)))"
        case .tooLarge(let limit): "\(path) is larger than \(limit) bytes, the most that is taken"
        case .notPNG: "\(path) is not a PNG"
        case .malformed(let line): "\(path):\(line): the line has none of the forms of a script"
        }
    }
}
