/// Finds what the boot ROM of an ESP32 writes on the serial line when the chip restarts, in the middle of whatever the
/// firmware was sending:
///
///     ets Jul 29 2019 12:21:46
///
///     rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)
///     …
///     entry 0x400805f0
///
/// Newer chips begin with `ESP-ROM:esp32s3-20210327` instead. (ESP-IDF Programming Guide, "Fatal Errors" and "Startup".)
public struct ESP32ResetFinder: Sendable {
    /// What a stream turns out to hold.
    public enum Piece: Sendable, Hashable {
        /// Bytes, as they came.
        case bytes([UInt8])
        /// The chip has restarted; the ROM's text follows as bytes.
        case reset
    }

    /// The beginning of a text that may become one of the ROM's.
    private var held: [UInt8] = []
    /// What was found last of the text of one restart.
    private var lastMark: Mark?

    /// A finder at the beginning of a stream.
    public init() {}

    /// Takes in what arrived. What may be the beginning of the ROM's text is kept until it is decided.
    public mutating func append(_ bytes: [UInt8]) -> [Piece] {
        let buffer = held.isEmpty ? bytes : held + bytes
        held = []
        var pieces: [Piece] = []
        var (start, index) = (0, 0)
        func add(upTo end: Int) {
            // Mostly there is nothing to cut.
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

    /// What was kept, now that nothing follows.
    public mutating func finish() -> [UInt8] {
        defer { self = ESP32ResetFinder() }
        return held
    }

    /// Where one of the ROM's texts may begin.
    private static func candidate(in buffer: [UInt8], from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            let first = ByteSearch.first(UInt8(ascii: "e"), or: UInt8(ascii: "E"), in: bytes, from: start)
            let end = UnsafeRawBufferPointer(rebasing: bytes[..<(first ?? bytes.count)])
            return ByteSearch.first(UInt8(ascii: "r"), or: UInt8(ascii: "r"), in: end, from: start) ?? first
        }
    }
}

/// What of the ROM's text gives a restart away, in the order in which it comes.
private enum Mark: Int {
    case banner, cause, entry

    enum Match {
        case none
        /// The bytes end within it.
        case begun
        case whole(Mark)
    }

    private enum Pattern {
        case text(String)
        case upper, lower, digit, hexadecimal
        /// A day of one digit has a blank before it.
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

    /// Whether `bytes` begin with one of them.
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

    /// Nil where the bytes end within the pattern.
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

    /// Whether what there is of a part of a pattern may be that part.
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
