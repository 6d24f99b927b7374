/// The answers of a device of no family, read from a file.
///
/// ```
/// # A controller with its greeting.
/// < Grbl 1.1h ['$' for help]
/// > $I
/// < [VER:1.1h.20190825:]
/// < ok
/// >! ?
/// < <Idle|MPos:0.000,0.000,0.000>
/// > G*
/// < ok
/// > *
/// < error:1
/// ```
///
/// `>` is followed by a line of the host, or by the beginning of a line and `*`. The `<` lines after it are the answer;
/// if several rules fit, the first one counts. `>!` is followed by one character, which is answered as soon as it
/// arrives, even within a line, and does not belong to that line. The `<` lines before the first `>` greet a host that
/// opens the line. A line that begins with `#` is a comment.
public struct AnswerScript: Sendable, Hashable {
    /// The answer to a line, or to a character.
    struct Rule: Sendable, Hashable {
        var text: [UInt8]
        /// Whether ``text`` is only the beginning of the line.
        var isBeginning = false
        var answer: [[UInt8]] = []

        func fits(_ line: [UInt8]) -> Bool { isBeginning ? line.starts(with: text) : line == text }
    }

    /// The lines that greet a host.
    private(set) var greeting: [[UInt8]] = []
    /// The rules for lines, in their order.
    private(set) var lines: [Rule] = []
    /// The rules for single bytes. The text of each is one byte.
    private(set) var bytes: [Rule] = []

    /// Reads the file at `path`.
    ///
    /// - Throws: ``DeviceFileError`` if the file can't be read, is larger than 1 MiB, or has a malformed line.
    public init(path: String) throws(DeviceFileError) {
        let content = try DeviceFile.bytes(of: path, limit: Self.largestFile)
        for (index, line) in content.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard take(line.last == 0x0D ? line.dropLast() : line) else {
                throw DeviceFileError(.malformed(line: index + 1), path: path)
            }
        }
    }

    /// The largest file in bytes: more than any person writes, and little enough for memory.
    static let largestFile = 1 << 20

    /// Returns the answer to a line; nil if no rule fits.
    func answer(to line: [UInt8]) -> [[UInt8]]? { lines.first { $0.fits(line) }?.answer }

    /// Returns the answer to a byte that has a rule of its own; nil if the byte is part of a line.
    func answer(to byte: UInt8) -> [[UInt8]]? { bytes.first { $0.text == [byte] }?.answer }

    private enum Place { case greeting, line, byte }
    private var place = Place.greeting

    /// Parses a line of the file. Returns `false` if the line has none of the allowed forms.
    private mutating func take(_ line: ArraySlice<UInt8>) -> Bool {
        guard let mark = line.first, mark != UInt8(ascii: "#") else { return true }
        let isByte = line.starts(with: ">!".utf8)
        var text = Array(line.dropFirst(isByte ? 2 : 1))
        if text.first == UInt8(ascii: " ") { text.removeFirst() }
        switch (mark, isByte) {
        case (UInt8(ascii: ">"), true):
            guard text.count == 1 else { return false }
            bytes.append(Rule(text: text))
            place = .byte
        case (UInt8(ascii: ">"), false):
            let isBeginning = text.last == UInt8(ascii: "*")
            lines.append(Rule(text: isBeginning ? text.dropLast() : text, isBeginning: isBeginning))
            place = .line
        case (UInt8(ascii: "<"), _):
            switch place {
            case .greeting: greeting.append(text)
            case .line: lines[lines.count - 1].answer.append(text)
            case .byte: bytes[bytes.count - 1].answer.append(text)
            }
        default: return false
        }
        return true
    }
}
