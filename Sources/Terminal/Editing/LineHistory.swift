internal import Glibc

/// The lines typed in this and earlier runs of a program, in a file that only its user may read.
///
/// Each line is appended as soon as it is typed, so that programs that run at the same time keep each other's lines,
/// and a crash loses none.
public struct LineHistory: Sendable {
    /// The maximum number of lines that ``load()`` returns and leaves in the file.
    static let limit = 1000

    private let path: String

    /// Creates a history in the file at `path`. The file need not exist; its folder must.
    public init(path: String) { self.path = path }

    /// Returns the lines, oldest first; none if the file can't be read. If the file has more than ``limit`` lines,
    /// removes the oldest ones; a line that another program adds at the same moment is lost.
    func load() -> [String] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
        let lines = text.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        if lines.count > Self.limit { replace(with: lines.suffix(Self.limit)) }
        return lines.suffix(Self.limit)
    }

    /// Adds a line. Does nothing if the file can't be written.
    func append(_ line: String) {
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        write([line], to: file)
        close(file)
    }

    private func replace(with lines: some Sequence<String>) {
        let new = "\(path).\(getpid())"
        let file = open(new, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let isWhole = write(lines, to: file)
        close(file)
        if !isWhole || rename(new, path) != 0 { unlink(new) }
    }

    /// Writes lines. Returns whether the file took all of them.
    @discardableResult
    private func write(_ lines: some Sequence<String>, to file: CInt) -> Bool {
        let text = Array(lines.map { $0 + "\n" }.joined().utf8)
        return Glibc.write(file, text, text.count) == text.count
    }
}
