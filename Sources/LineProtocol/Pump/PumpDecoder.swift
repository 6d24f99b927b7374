extension PumpMessage {
    /// Parses a line. A line that the protocol does not define becomes ``unknown(_:)``.
    ///
    /// - Parameters:
    ///   - line: The line without its end.
    ///   - ending: The way in which the line ended. A line that the framer has cut becomes ``unknown(_:)``.
    public init(line: Span<UInt8>, ending: LineEnding = .lineFeed) {
        self = line.withUnsafeBytes { bytes in
            guard ending != .cut else { return .unknown(Array(bytes)) }
            return Self.protocolMessage(bytes) ?? Self.freeText(bytes) ?? .unknown(Array(bytes))
        }
    }

    private static func protocolMessage(_ line: UnsafeRawBufferPointer) -> PumpMessage? {
        if line.hasPrefix("STATUS:") {
            return line.slice(7, line.count).insideBraces.flatMap { PumpStatus(fields: $0) }.map { .status($0) }
        }
        if line.equals("OK") { return .ok }
        if line.hasPrefix("TEMP:") { return PumpTemperatures(line.slice(5, line.count)).map { .temperatures($0) } }
        if line.hasPrefix("PUMP:") { return line.slice(5, line.count).onOrOff.map { .pump(isOn: $0) } }
        if line.hasPrefix("MANUAL:") { return line.slice(7, line.count).onOrOff.map { .manual(isOn: $0) } }
        if line.hasPrefix("SPEED:") {
            return line.slice(6, line.count).wholeNumber.flatMap { PumpSpeed(pwm: $0) }.map { .speed($0) }
        }
        if line.hasPrefix("ERROR:") {
            let code = line.slice(6, line.count)
            guard !code.isEmpty, code.allSatisfy({ $0.isErrorCodeCharacter }) else { return nil }
            return .error(PumpErrorCode(rawValue: code.text))
        }
        return nil
    }

    /// Recognizes lines that the firmware prints for people: banners, debug lines, and the text after an error that
    /// stopped the pump.
    private static func freeText(_ line: UnsafeRawBufferPointer) -> PumpMessage? {
        for prefix in textPrefixes where line.hasPrefix(prefix) { return .text(line.text) }
        if !line.isEmpty, line.allSatisfy({ $0 == UInt8(ascii: "=") }) { return .text(line.text) }
        return nil
    }

    private static let textPrefixes: [StaticString] = [
        "HELLO:", "Device:", "Version:", "Baud Rate:", "Reset:", "Ready for commands",
        "Maximum runtime exceeded", "Skin temperature too ", "Skin thermistor ", "Water thermistor ",
        "[BT]", "[PUMP]", "[MAIN]", "[BUTTON]", "[SETUP]", "[POT]", "[WARNING]",
    ]
}

extension UnsafeRawBufferPointer {
    fileprivate var onOrOff: Bool? {
        if equals("ON") { return true }
        if equals("OFF") { return false }
        return nil
    }

    fileprivate var wholeNumber: Int? {
        guard (1...3).contains(count) else { return nil }
        var value = 0
        for byte in self {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}

extension UInt8 {
    fileprivate var isErrorCodeCharacter: Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || self == UInt8(ascii: "_")
    }
}
