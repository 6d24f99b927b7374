/// Splits the bytes from a terminal into keys: characters and whole escape sequences. A byte that is not UTF-8 becomes
/// a key of its own, a ``RawByte``.
struct KeyParser {
    /// The characters of one key.
    typealias Key = [Unicode.Scalar]

    /// The longest time between two parts of an escape sequence. A terminal sends a sequence at once; characters that a
    /// person types after this time are text. Escape alone does nothing.
    static let escapeTime = Duration.milliseconds(100)

    /// The bytes of an unfinished character or escape sequence.
    private var pending: [UInt8] = []
    private var lastInstant: ContinuousClock.Instant?

    /// Returns the keys that `bytes`, received at `instant`, complete. Drops an unfinished escape sequence if the
    /// previous bytes arrived more than ``escapeTime`` before.
    mutating func keys(_ bytes: [UInt8], at instant: ContinuousClock.Instant) -> [Key] {
        if let lastInstant, pending.first == Self.escape, lastInstant.duration(to: instant) > Self.escapeTime {
            pending = []
        }
        lastInstant = instant
        return bytes.flatMap { take($0) }
    }

    private static let escape: UInt8 = 0x1B

    private mutating func take(_ byte: UInt8) -> [Key] {
        if byte == Self.escape { return startSequence() }
        pending.append(byte)
        guard pending[0] == Self.escape else { return takeCharacter(byte) }
        switch pending.count {
        // `[` and `O` begin longer sequences; a byte from 0x80 on begins the character of Alt with a key beyond ASCII.
        case 2: if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") || byte >= 0x80 { return [] }
        default: if isIncomplete(byte) { return [] }
        }
        defer { pending = [] }
        return [pending.map { Unicode.Scalar($0) }]
    }

    /// Whether bytes are missing after Escape, a second byte, and further bytes of which `byte` is the last: parameters
    /// of a sequence, up to its final byte, or bytes of a character.
    private func isIncomplete(_ byte: UInt8) -> Bool {
        guard pending[1] == UInt8(ascii: "[") else { return pending.count <= Self.characterLength(pending[1]) }
        return !(0x40...0x7E).contains(byte) || isLinuxFunctionKey
    }

    /// Whether the pending bytes begin a function key of the Linux console: Escape, `[`, `[`, and then a letter.
    private var isLinuxFunctionKey: Bool { pending.count == 3 && pending[2] == UInt8(ascii: "[") }

    /// Starts a new sequence. An unfinished sequence is dropped; bytes of an unfinished character become raw bytes.
    private mutating func startSequence() -> [Key] {
        defer { pending = [Self.escape] }
        return pending.first == Self.escape ? [] : pending.map(RawByte.key)
    }

    private mutating func takeCharacter(_ byte: UInt8) -> [Key] {
        var keys: [Key] = []
        if pending.count > 1, byte & 0xC0 != 0x80 {
            keys = pending.dropLast().map(RawByte.key)
            pending = [byte]
        }
        guard pending.count == Self.characterLength(pending[0]) else { return keys }
        defer { pending = [] }
        let scalars = String(validating: pending, as: UTF8.self).map { Array($0.unicodeScalars) }
        if let scalars, !scalars.contains(where: RawByte.isOne) { return keys + [scalars] }
        return keys + pending.map(RawByte.key)
    }

    /// Returns the number of bytes of a character that begins with `byte`; 1 if none begins so.
    private static func characterLength(_ byte: UInt8) -> Int {
        switch byte {
        case 0xC2..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0..<0xF5: 4
        default: 1
        }
    }
}

extension KeyParser {
    /// The sequences that the line editor understands. The editor would take parts of other sequences for text: a
    /// function key must not add a digit to a speed.
    private static let sequences: Set<String> = [
        "[A", "[B", "[C", "[D", "OA", "OB", "OC", "OD", "[H", "[F", "OH", "OF", "[1~", "[4~", "[3~", "[1;5C", "[1;5D",
    ]

    /// Whether a key is a sequence that the line editor does not understand. Escape with a single character, as Alt-B
    /// sends it, is left to the editor.
    static func isForeignSequence(_ key: Key) -> Bool {
        guard key.count > 2, key[0] == "\u{1B}" else { return false }
        var text = ""
        text.unicodeScalars.append(contentsOf: key.dropFirst())
        return !sequences.contains(text)
    }
}

/// A byte that is not UTF-8, in an edited line: a private-use character represents it.
enum RawByte {
    /// The character for byte 0, in Unicode's last private-use area, which hardly any text uses.
    private static let first: UInt32 = 0x10F000

    /// Returns the character that represents `byte`.
    static func key(_ byte: UInt8) -> KeyParser.Key { Unicode.Scalar(first + UInt32(byte)).map { [$0] } ?? [] }

    /// Whether a character represents a raw byte.
    static func isOne(_ scalar: Unicode.Scalar) -> Bool { (first...first + 0xFF).contains(scalar.value) }

    /// Returns the typed bytes of `line`, with raw bytes restored.
    static func bytes(of line: String) -> [UInt8] {
        line.unicodeScalars.flatMap { scalar in
            isOne(scalar) ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }
}
