internal import Glibc

/// Reads a file that an option of a simulated device names.
enum DeviceFile {
    /// Returns the content of the file.
    ///
    /// - Throws: ``DeviceFileError`` if the file can't be read or is larger than `limit` bytes.
    static func bytes(of path: String, limit: Int) throws(DeviceFileError) -> [UInt8] {
        // O_NONBLOCK: opening a FIFO that has no writer must not block the program.
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
        /// The file is larger than `limit` bytes.
        case tooLarge(limit: Int)
        /// The file should be an image, but is not a PNG.
        case notPNG
        /// The file should be an ``AnswerScript``, but this line, counted from 1, has none of the allowed forms.
        case malformed(line: Int)
    }

    /// The kind of failure.
    public var code: Code
    /// The path of the file.
    public var path: String

    /// Creates an error of the given kind.
    public init(_ code: Code, path: String) {
        self.code = code
        self.path = path
    }

    /// A suggested remedy.
    public var hint: String {
        switch code {
        case .unreadable: "name another file"
        case .tooLarge: "name a smaller file"
        case .notPNG: "name a PNG file, or convert this one to PNG first"
        case .malformed: "begin the line with '>' (host), '>!' (one character), '<' (reply) or '#' (comment)"
        }
    }
}

extension DeviceFileError: CustomStringConvertible {
    public var description: String {
        switch code {
        case .unreadable(let errno): "\(path): \(String(cString: strerror(errno)))"
        case .tooLarge(let limit): "\(path) is larger than \(limit) bytes, the maximum"
        case .notPNG: "\(path) is not a PNG"
        case .malformed(let line): "\(path):\(line): not a valid line of a script"
        }
    }
}
