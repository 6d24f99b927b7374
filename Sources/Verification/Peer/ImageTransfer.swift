/// What a peer has said since it was asked for its image.
struct ImageTransfer {
    enum Ending: Equatable {
        /// `IMG_END` came.
        case end
        /// `IMG_ERROR` came, with this reason.
        case error(String)
        /// Nothing further came.
        case silence
        /// It went on for longer than a check can wait.
        case tooLong
    }

    /// How long a check waits for an image.
    static let limit = Duration.seconds(10)
    /// The longest image that is asked for more than once.
    static let briefTime = Duration.seconds(3)

    /// What was sent and came.
    var steps: [CheckResult.Step] = []
    /// The line `IMG_BEGIN …`; nil where none came.
    var begin: HeardLine?
    /// What stands between the first line and the last, apart from messages.
    var chunks: [[UInt8]] = []
    /// What ended the lines, or the packets: `\r\n`, `\n`, or nothing.
    var ends: Set<String> = []
    var ending = Ending.silence
    /// From the question to the end.
    var time = Duration.zero

    /// All base64 characters.
    var characters: [UInt8] { chunks.flatMap(\.self) }

    /// The name and the size that the first line tells; nil where it has another form.
    var announced: (name: String, size: Int)? {
        guard let begin else { return nil }
        let words = begin.message.text.split(separator: " ", omittingEmptySubsequences: false)
        // A name may have blanks in it.
        guard words.count >= 3, words[0] == "IMG_BEGIN", let last = words.last, !last.isEmpty,
            last.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let size = Int(last)
        else { return nil }
        let name = words[1..<(words.count - 1)].joined(separator: " ")
        return name.allSatisfy { $0 == " " } ? nil : (name, size)
    }

    /// Takes in the next line.
    ///
    /// - Returns: Whether it was the last.
    mutating func take(_ line: HeardLine) -> Bool {
        let (text, end) = line.message
        if begin == nil {
            if text.hasPrefix("IMG_BEGIN") { begin = line }
        } else if text == "IMG_END" {
            ending = .end
        } else if !text.hasPrefix("IMG_"), !isMessage(text) {
            chunks.append(Array(text.utf8))
        }
        if text.hasPrefix("IMG_ERROR") {
            ending = .error(String(text.dropFirst("IMG_ERROR".count).drop { $0 == " " }))
        }
        ends.insert(end)
        return ending != .silence
    }

    /// Whether a line within an image is no part of it. Chunks are as long as each other, but for the last; damaged ones too.
    private func isMessage(_ text: String) -> Bool {
        guard !text.utf8.allSatisfy(Base64.isCharacter) else { return false }
        return chunks.first.map { $0.count != text.utf8.count } ?? text.contains(" ")
    }
}

extension HeardLine {
    /// Its text without a line end, and that end: over BLE a message has none.
    var message: (text: String, end: String) {
        if endsWithReturn { return (text, "\\r\\n") }
        let content = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let end = Array(bytes[content.count...])
        return (String(decoding: content, as: UTF8.self), end.isEmpty ? "" : end.shown)
    }
}

/// Base64 (RFC 4648, section 4).
enum Base64 {
    static func isCharacter(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "=") || value(byte) != nil }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    /// What the characters stand for; nil where they are no base64.
    static func bytes(_ characters: [UInt8]) -> [UInt8]? {
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.suffix(2).count { $0 == UInt8(ascii: "=") }
        var (bytes, bits): ([UInt8], UInt32) = ([], 0)
        bytes.reserveCapacity(characters.count / 4 * 3)
        for (index, character) in characters.enumerated() {
            let isPadding = index >= characters.count - padding
            guard let value = isPadding ? 0 : value(character) else { return nil }
            bits = bits << 6 | value
            if index % 4 == 3 {
                for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift))) }
                bits = 0
            }
        }
        bytes.removeLast(padding)
        return bytes
    }
}
