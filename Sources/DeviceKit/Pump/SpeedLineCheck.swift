internal import LineProtocol

/// Finds lines that the firmware would misread as another speed.
///
/// The firmware reads the number after `SPEED:` with `atoi` into 16 bits, so that `SPEED:fast` stops the pump and
/// `SPEED:65736` runs it at 200. Only one to three plain digits from 0 to 255 mean the same to the firmware as to a
/// reader.
enum SpeedLineCheck {
    /// The size of the firmware's UART buffer in bytes. Bytes beyond it may be lost, also in the middle of a line.
    private static let bufferSize = 63
    private static let prefix = Array("SPEED:".utf8)
    private static let rule = "use SPEED:0 to SPEED:255"

    /// Returns the reason that a text must not be sent; nil if it may be sent.
    ///
    /// - Parameter text: The text without the last line end. Each line in it is a command.
    static func reason(against text: [UInt8]) -> String? {
        let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        for line in lines {
            if let reason = reason(againstLine: Array(line)) { return reason }
        }
        // With its line end, the text is longer than the buffer.
        guard text.count >= bufferSize, containsSpeed(text) else { return nil }
        return "the firmware buffers \(bufferSize) bytes: in a longer text, a speed may be truncated to another speed; "
            + "send each line separately"
    }

    private static func reason(againstLine line: [UInt8]) -> String? {
        guard line.prefix(prefix.count).map(upperCased) == prefix else { return nil }
        let value = line.dropFirst(prefix.count)
        guard !isPlainSpeed(value) else { return nil }
        let read = PumpNumber.read(value)
        let text = "'\(line.printable())'"
        let reading = "the firmware reads '\(Array(value).printable())' as \(read)"
        return (0...255).contains(read)
            ? "\(text) would set the speed to \(read), since \(reading); \(rule)"
            : "\(text) is not a speed: \(reading), and refuses that; \(rule)"
    }

    /// Whether a value is one to three digits and at most 255.
    private static func isPlainSpeed(_ value: ArraySlice<UInt8>) -> Bool {
        guard (1...3).contains(value.count), value.allSatisfy(PumpNumber.isDigit) else { return false }
        return (0...255).contains(PumpNumber.read(value))
    }

    private static func containsSpeed(_ text: [UInt8]) -> Bool {
        let text = text.map(upperCased)
        return text.indices.contains { text[$0...].starts(with: prefix) }
    }

    private static func upperCased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
    }
}
