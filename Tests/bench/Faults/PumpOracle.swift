import LineProtocol

/// Parses a pump's lines as in docs/protocols.md, independently of the host's code. Two rules are not in that
/// document: of a duplicate field the first one counts, although the host rejects such a line; and numbers of minutes
/// have 16 bits, as in the host.
enum PumpOracle {
    /// The fields between the braces of a valid line `STATUS:{…}`, or after `TEMP:`; nil for any other line.
    static func fields(of line: String) -> [String: String]? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let kind = line[..<colon]
        var rest = line[line.index(after: colon)...]
        guard kind == "STATUS" || kind == "TEMP" else { return nil }
        if kind == "TEMP", !rest.hasPrefix("{") { return ["Temp": value(rest, of: "Temp")] }
        guard rest.hasPrefix("{"), rest.hasSuffix("}"), rest.count >= 2 else { return nil }
        rest = rest.dropFirst().dropLast()
        var fields: [String: String] = [:]
        for field in rest.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            let text = parts.count > 1 ? parts[1] : ""
            if fields[name] == nil { fields[name] = value(text, of: name) }
        }
        return fields
    }

    /// A value in normalized form, such as `9.5` for ` 9.5C`; unchanged if it is not valid.
    private static func value(_ text: Substring, of name: String) -> String {
        switch name {
        case "Speed":
            let digits = text.dropLast()
            if text.hasSuffix("%"), isDigits(digits), let number = Int(digits), number <= 100 { return "\(number)" }
        case "Runtime", "Remaining":
            let digits = text.dropLast()
            if text.hasSuffix("m"), isDigits(digits), let number = Int(digits), number < 65536 { return "\(number)" }
        case "WaterTemp", "SkinTemp", "Temp", "Water", "Skin":
            let number = (text.hasSuffix("C") ? text.dropLast() : text).drop { $0 == " " }
            if isTemperature(number), let celsius = Double(number) { return "\(celsius)" }
        default: break
        }
        return String(text)
    }

    /// Whether the text is a number with one decimal, as in all temperatures, or nan or inf.
    private static func isTemperature(_ text: Substring) -> Bool {
        let number = text.hasPrefix("-") ? text.dropFirst() : text
        if ["nan", "inf"].contains(number.lowercased()) { return true }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && isDigits(parts[0]) && isDigits(parts[1]) && parts[1].count == 1
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The pump's state after it has sent a line: `ON`, `OFF` or `ERROR`; nil if the line does not show it.
    static func power(by line: String) -> String? {
        switch line {
        case "PUMP:ON", "MANUAL:ON": return "ON"
        case "PUMP:OFF", "MANUAL:OFF": return "OFF"
        case "ERROR:SAFETY_SHUTOFF", "ERROR:OVERHEAT", "ERROR:PUMP_START_FAILED": return "ERROR"
        default: break
        }
        if line.hasPrefix("SPEED:") { return "ON" }
        guard line.hasPrefix("STATUS:"), let state = fields(of: line)?["State"] else { return nil }
        return ["ON", "OFF", "ERROR"].contains(state) ? state : nil
    }

    /// Whether a line is an error in reply to a command.
    static func isRefusal(_ line: String) -> Bool {
        line.hasPrefix("ERROR:") && line != "ERROR:SAFETY_SHUTOFF" && line != "ERROR:OVERHEAT"
    }
}

extension PumpStatus {
    /// The fields that a host shows of a status, in the form of ``PumpOracle/fields(of:)``.
    var shownFields: [String: String] {
        var fields: [String: String] = [:]
        if power != .unknown { fields["State"] = power.rawValue.uppercased() }
        fields["Speed"] = speedPercent.map { "\($0)" }
        fields["Runtime"] = runtimeMinutes.map { "\($0)" }
        fields["Remaining"] = remainingMinutes.map { "\($0)" }
        fields["WaterTemp"] = temperatures.water.map { "\($0.celsius)" }
        fields["SkinTemp"] = temperatures.skin.map { "\($0.celsius)" }
        fields["Temp"] = temperatures.single.map { "\($0.celsius)" }
        for field in otherFields where fields[field.name] == nil { fields[field.name] = field.value }
        return fields
    }
}

extension PumpTemperatures {
    /// The fields that a host shows of a reply to TEMP, in the form of ``PumpOracle/fields(of:)``.
    var shownFields: [String: String] {
        var fields: [String: String] = [:]
        fields["Water"] = water.map { "\($0.celsius)" }
        fields["Skin"] = skin.map { "\($0.celsius)" }
        fields["Temp"] = single.map { "\($0.celsius)" }
        for field in otherFields where fields[field.name] == nil { fields[field.name] = field.value }
        return fields
    }
}
