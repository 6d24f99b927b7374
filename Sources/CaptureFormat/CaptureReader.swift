internal import StrictJSON
internal import Glibc

/// Reads a capture event by event. Memory use does not grow with the length of a file.
///
/// Several readers can read the same input, even a pipe, whose bytes are kept in memory: see ``CaptureBytes``.
///
/// ```swift
/// var reader = try CaptureReader("pump.capture")
/// while let event = try reader.next() { print(event.time, event.content) }
/// ```
package struct CaptureReader: ~Copyable {
    /// The length limit of a line in bytes, 64 MiB: a file that is not a capture must not fill the memory.
    private static let lineLimit = 1 << 26
    private static let chunkLength = 1 << 16

    package let path: String
    package private(set) var header = CaptureHeader(program: "", family: "", started: "")
    /// The number of the line that was read last, from 1; 0 before the first line.
    package private(set) var lineNumber = 0
    /// Whether the file ends within a line, for example because its writer was killed. The incomplete line is ignored.
    package private(set) var isCut = false

    private let bytes: CaptureBytes
    private var offset = 0
    private var lines = JSONLines()
    private var isAtEnd = false

    /// Opens a file and reads its header.
    ///
    /// - Throws: ``CaptureError``.
    package init(_ path: String) throws(CaptureError) {
        self.path = path
        bytes = CaptureBytes.of(path)
        if let errno = bytes.failure {
            throw CaptureError(errno: errno, path, hint: Self.foreignHint)
        }
        guard let line = try nextLine() else { throw foreign }
        switch CaptureHeader.read(line) {
        case .header(let header): self.header = header
        case .foreign: throw foreign
        case .newer(let version, let program):
            throw CaptureError(
                .newerVersion, path,
                "version \(version) of the format" + (program.map { ", written by \($0)" } ?? "")
                    + ": this pumpctl reads up to version \(CaptureHeader.version)",
                hint: "install a newer pumpctl")
        }
    }

    private var foreign: CaptureError {
        CaptureError(.notACapture, path, "not a capture of pumpctl", hint: Self.foreignHint)
    }

    private static let foreignHint = "name a file that pumpctl --capture or pumpctl record has written"

    /// Reads the next event; nil at the end.
    ///
    /// - Throws: ``CaptureError`` for a damaged line, or if reading fails.
    package mutating func next() throws(CaptureError) -> CaptureEvent? {
        while let line = try nextLine() {
            do throws(CaptureEvent.Fault) {
                if let event = try CaptureEvent.read(line) { return event }
            } catch {
                throw damaged(error.reason)
            }
        }
        return nil
    }

    private func damaged(_ reason: String) -> CaptureError {
        CaptureError(
            .notACapture, path, line: lineNumber, "damaged line: \(reason)",
            hint: "remove the line, or capture the session again")
    }

    /// Reads the next line that is not empty; nil at the end.
    ///
    /// Sets ``isCut`` if the last line has no line end and is not valid JSON. A valid last line counts as complete: an
    /// editor may have removed its line end.
    private mutating func nextLine() throws(CaptureError) -> [UInt8]? {
        while true {
            if let line = lines.next() {
                lineNumber += 1
                if !line.isEmpty { return line }
            } else if isAtEnd {
                let rest = lines.takeAll()
                guard !rest.isEmpty else { return nil }
                lineNumber += 1
                isCut = (try? JSONValue(captured: rest)) == nil
                return isCut ? nil : rest
            } else {
                try readMore()
            }
        }
    }

    private mutating func readMore() throws(CaptureError) {
        guard lines.count <= Self.lineLimit else { throw foreign }
        var buffer = [UInt8](repeating: 0, count: Self.chunkLength)
        let count = bytes.read(into: &buffer, at: offset)
        offset += max(0, count)
        if count < 0 {
            if errno == EINTR { return }
            throw CaptureError(errno: errno, path, hint: errno == EISDIR ? Self.foreignHint : "check the disk")
        }
        isAtEnd = count == 0
        lines.append(Array(buffer[..<count]))
    }
}
