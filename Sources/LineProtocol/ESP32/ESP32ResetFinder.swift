/// Finds the text that the boot ROM of an ESP32 writes on the serial line when the chip restarts. The text may
/// interrupt the firmware's output at any byte:
///
///     ets Jul 29 2019 12:21:46
///
///     rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)
///     …
///     entry 0x400805f0
///
/// Newer chips begin with `ESP-ROM:esp32s3-20210327` instead. (ESP-IDF Programming Guide, "Fatal Errors" and
/// "Startup".) ``ESP32Reset`` parses the line that names the cause.
public struct ESP32ResetFinder: Sendable {
    /// A part of the stream.
    public enum Piece: Sendable, Hashable {
        /// Bytes, unchanged.
        case bytes([UInt8])
        /// A restart of the chip. The ROM's text follows as bytes.
        case reset
    }

    /// Bytes that may become the start of a text of the ROM.
    private var held: [UInt8] = []
    /// The last mark that was found; nil before the first. A mark that follows it in the order of `Mark` belongs to the
    /// same restart, any other to a new one.
    private var lastMark: Mark?

    /// Creates a finder for the beginning of a stream.
    public init() {}

    /// Takes received bytes, and returns the parts of the stream that are certain. Bytes that may be the start of the
    /// ROM's text are held back until the next call.
    public mutating func append(_ bytes: [UInt8]) -> [Piece] {
        let buffer = held.isEmpty ? bytes : held + bytes
        held = []
        var pieces: [Piece] = []
        var (start, index) = (0, 0)
        func add(upTo end: Int) {
            // Usually the whole buffer is one piece, which needs no copy.
            if end > start { pieces.append(.bytes(end - start == buffer.count ? buffer : Array(buffer[start..<end]))) }
        }
        while let candidate = Self.candidate(in: buffer, from: index) {
            index = candidate + 1
            switch Mark.match(buffer[candidate...]) {
            case .none: continue
            case .begun:
                add(upTo: candidate)
                held = Array(buffer[candidate...])
                return pieces
            case .whole(let mark):
                let isOfSameRestart = lastMark.map { $0.rawValue < mark.rawValue } ?? false
                lastMark = mark
                if isOfSameRestart { continue }
                add(upTo: candidate)
                pieces.append(.reset)
                start = candidate
            }
        }
        add(upTo: buffer.count)
        return pieces
    }

    /// Returns the bytes that were held back. Call this function at the end of input. The finder can then be used for a
    /// new stream.
    public mutating func finish() -> [UInt8] {
        defer { self = ESP32ResetFinder() }
        return held
    }

    /// Returns the next index at which a text of the ROM may begin; nil if there is none.
    private static func candidate(in buffer: [UInt8], from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            let first = ByteSearch.first(UInt8(ascii: "e"), or: UInt8(ascii: "E"), in: bytes, from: start)
            let end = UnsafeRawBufferPointer(rebasing: bytes[..<(first ?? bytes.count)])
            return ByteSearch.first(UInt8(ascii: "r"), or: UInt8(ascii: "r"), in: end, from: start) ?? first
        }
    }
}

/// The texts of the ROM that reveal a restart, in the order in which they come.
private enum Mark: Int {
    /// The banner (`ets …` or `ESP-ROM:…`), the line with the cause (`rst:…`), and the line with the entry address of a
    /// program (`entry …`).
    case banner, cause, entry

    enum Match {
        case none
        /// The bytes end before the text does.
        case begun
        case whole(Mark)
    }

    private enum Pattern {
        case text(String)
        case upper, lower, digit, hexadecimal
        /// A digit, or the space before a day of one digit.
        case digitOrBlank

        var length: Int { if case .text(let text) = self { text.utf8.count } else { 1 } }
    }

    private static let patterns: [(Mark, [Pattern])] = [
        (
            .banner,
            [.text("ets "), .upper, .lower, .lower, .text(" "), .digitOrBlank, .digit, .text(" 20"), .digit, .digit]
        ),
        (.banner, [.text("ESP-ROM:esp32")]),
        (.cause, [.text("rst:0x"), .hexadecimal]),
        (.entry, [.text("entry 0x"), .hexadecimal]),
    ]

    /// Compares the start of `bytes` with each text.
    static func match(_ bytes: ArraySlice<UInt8>) -> Match {
        for (mark, pattern) in patterns {
            switch match(bytes, pattern) {
            case true?: return .whole(mark)
            case nil: return .begun
            case false?: continue
            }
        }
        return .none
    }

    /// Returns whether `bytes` begin with `pattern`; nil if the bytes end before the pattern does.
    private static func match(_ bytes: ArraySlice<UInt8>, _ pattern: [Pattern]) -> Bool? {
        var rest = bytes
        for part in pattern {
            let piece = rest.prefix(part.length)
            guard fits(piece, part) else { return false }
            if piece.count < part.length { return nil }
            rest = rest.dropFirst(part.length)
        }
        return true
    }

    /// Whether the bytes, which may be incomplete, match a part of a pattern so far.
    private static func fits(_ bytes: ArraySlice<UInt8>, _ part: Pattern) -> Bool {
        guard let byte = bytes.first else { return true }
        let character = UnicodeScalar(byte)
        return switch part {
        case .text(let text): text.utf8.starts(with: bytes)
        case .upper: ("A"..."Z").contains(character)
        case .lower: ("a"..."z").contains(character)
        case .digit: ("0"..."9").contains(character)
        case .digitOrBlank: ("0"..."9").contains(character) || character == " "
        case .hexadecimal: character.properties.isASCIIHexDigit
        }
    }
}
