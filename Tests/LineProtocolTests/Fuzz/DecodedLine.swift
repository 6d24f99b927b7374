import LineProtocol

/// A line and its decoded message.
struct DecodedLine {
    var line: FramedLine
    var message: PumpMessage

    init(_ line: FramedLine) {
        self.line = line
        message = PumpMessage(line: line.bytes.span, ending: line.ending)
    }

    /// The kind of the message: the first word of the pump's line, or `text` or `unknown`.
    var kind: String {
        switch message {
        case .ok: "OK"
        case .pump: "PUMP"
        case .speed: "SPEED"
        case .status: "STATUS"
        case .temperatures: "TEMP"
        case .error: "ERROR"
        case .manual: "MANUAL"
        case .text: "text"
        case .unknown: "unknown"
        }
    }

    /// Whether everything that the message says is in the line. Of temperatures, only the prefix of the line is
    /// checked.
    var isFounded: Bool {
        if case .unknown(let bytes) = message { return bytes == line.bytes }
        guard line.ending != .cut else { return false }
        let text = String(decoding: line.bytes, as: UTF8.self)
        switch message {
        case .ok: return line.bytes == Array("OK".utf8)
        case .pump(let isOn): return line.bytes == Array("PUMP:\(isOn ? "ON" : "OFF")".utf8)
        case .manual(let isOn): return line.bytes == Array("MANUAL:\(isOn ? "ON" : "OFF")".utf8)
        case .error(let code): return line.bytes == Array("ERROR:\(code.rawValue)".utf8)
        case .speed(let speed): return text.utf8.starts(with: "SPEED:".utf8) && Int(text.dropFirst(6)) == Int(speed.pwm)
        case .temperatures: return line.bytes.starts(with: "TEMP:".utf8)
        case .status(let status):
            return line.bytes.starts(with: "STATUS:{".utf8) && line.bytes.last == UInt8(ascii: "}")
                && status.fieldCount == Self.fieldCount(line.bytes.dropFirst(8).dropLast())
        case .text(let passedOn): return passedOn.utf8.elementsEqual(text.utf8)
        case .unknown: return false
        }
    }

    /// The number of fields between commas. A comma at the end begins no further field.
    private static func fieldCount(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let last = bytes.last else { return 0 }
        let commas = bytes.count { $0 == UInt8(ascii: ",") }
        return last == UInt8(ascii: ",") ? commas : commas + 1
    }
}

extension PumpStatus {
    /// The number of fields of the line that the status keeps, as a value or as text.
    fileprivate var fieldCount: Int {
        otherFields.count + (power == .unknown ? 0 : 1) + (speedPercent == nil ? 0 : 1)
            + (runtimeMinutes == nil ? 0 : 1)
            + (remainingMinutes == nil ? 0 : 1) + (temperatures.water == nil ? 0 : 1)
            + (temperatures.skin == nil ? 0 : 1)
            + (temperatures.single == nil ? 0 : 1)
    }
}
