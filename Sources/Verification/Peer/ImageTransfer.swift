/// The output of a peer after a request for its image, until the image ends.
struct ImageTransfer {
    enum Ending: Equatable {
        /// `IMG_END` came.
        case end
        /// `IMG_ERROR` came, with the given reason.
        case error(String)
        /// No further line came within the timeout. Also the value before the end.
        case silence
        /// The image took longer than ``ImageTransfer/limit``.
        case tooLong
    }

    /// The longest time for which a check waits for the end of an image. With this and ``briefTime`` an image of any
    /// size leaves the checks within their time limit: see ``VerificationOptions/limit(hasStimulus:)``.
    static let limit = Duration.seconds(10)
    /// The longest duration of a transfer that is repeated; a longer transfer is used for all checks.
    static let briefTime = Duration.seconds(3)

    /// The transcript of the transfer.
    var steps: [CheckResult.Step] = []
    /// The line `IMG_BEGIN …`; nil if none came.
    var begin: HeardLine?
    /// The lines of base64 after `IMG_BEGIN`. Messages that came between them are left out.
    var chunks: [[UInt8]] = []
    /// The line ends of the lines or packets, as in ``HeardLine/message``.
    var ends: Set<String> = []
    var ending = Ending.silence
    /// The time from the request to the end.
    var time = Duration.zero

    /// All base64 characters of the image.
    var characters: [UInt8] { chunks.flatMap(\.self) }

    /// The name and size in the first line; nil if the line is missing or has another form.
    var announced: (name: String, size: Int)? {
        guard let begin else { return nil }
        let words = begin.message.text.split(separator: " ", omittingEmptySubsequences: false)
        // A name may contain spaces.
        guard words.count >= 3, words[0] == "IMG_BEGIN", let last = words.last, !last.isEmpty,
            last.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let size = Int(last)
        else { return nil }
        let name = words[1..<(words.count - 1)].joined(separator: " ")
        return name.allSatisfy { $0 == " " } ? nil : (name, size)
    }

    /// Takes the next line.
    ///
    /// - Returns: Whether the transfer is over.
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

    /// Whether a line within an image is a message, and not a part of the image. A line that is not base64 but has the
    /// length of the first chunk counts as a damaged chunk, since all chunks but the last have the same length. In the
    /// place of the first chunk, it counts as a message if it contains a space.
    private func isMessage(_ text: String) -> Bool {
        guard !text.utf8.allSatisfy(Base64.isCharacter) else { return false }
        return chunks.first.map { $0.count != text.utf8.count } ?? text.contains(" ")
    }
}

extension HeardLine {
    /// The text without its line end, and the line end with escapes. The line end is empty for a line that ended with a
    /// bare `\n`, and for a packet without a line end.
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

    /// Decodes the characters; nil if they are not valid base64.
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
