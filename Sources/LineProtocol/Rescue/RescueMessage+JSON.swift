extension RescueMessage {
    /// The longest JSON that is parsed, in bytes. If ``json`` escapes every character, a message that a framer has
    /// accepted becomes up to six times as long.
    public static let jsonLimit = 6 * RescueFramer.lengthLimit

    /// Parses a message from the wire.
    ///
    /// - Parameter json: One JSON object.
    /// - Throws: ``RescueError``, with the fault and its position.
    public init(json: [UInt8]) throws(RescueError) {
        do {
            self = try Self.read(JSONObject(json))
        } catch {
            var error = error
            error.excerpt = Array(json.prefix(RescueError.excerptLength))
            throw error
        }
    }

    private static func read(_ object: JSONObject) throws(RescueError) -> RescueMessage {
        let id = try object.text("id", expected: "a UUID") { RescueID($0) }
        let latitude = try object.number("latitude", expected: "-90 to 90")
        let longitude = try object.number("longitude", expected: "-180 to 180")
        guard let position = RescuePosition(latitude: latitude, longitude: longitude) else {
            let isLatitudeWrong = RescuePosition(latitude: latitude, longitude: 0) == nil
            throw RescueError(
                .invalidValue, field: isLatitudeWrong ? "latitude" : "longitude",
                expected: isLatitudeWrong ? "-90 to 90" : "-180 to 180")
        }
        let seconds = try object.number("timestamp", expected: timeRange)
        guard let time = RescueTime(secondsSince2001: seconds) else {
            throw RescueError(.invalidValue, field: "timestamp", expected: timeRange)
        }
        return RescueMessage(
            id: id, content: try object.text("content", expected: "text") { $0 }, position: position, time: time,
            status: try object.text("status", expected: "pending_sync or synced") { RescueStatus(rawValue: $0) },
            category: try object.text("category", expected: "text") { RescueCategory(rawValue: $0) },
            otherFields: object.fields.filter { !names.contains($0.name) }.map {
                RescueField(name: $0.name, json: Array(object.bytes[$0.value]))
            })
    }

    private static let timeRange = "seconds since 2001, within the years 1 to 9999"
    private static let names: Set<String> = [
        "id", "content", "latitude", "longitude", "timestamp", "status", "category",
    ]

    /// The message for the wire: one JSON object, without a line end.
    ///
    /// Characters that a terminal could obey, and other invisible ones, are escaped.
    public var json: [UInt8] {
        var text = "{\"id\":\"\(id)\",\"content\":" + Self.quoted(content)
        text += ",\"latitude\":\(position.latitude),\"longitude\":\(position.longitude)"
        text += ",\"timestamp\":\(time.secondsSince2001),\"status\":\"\(status.rawValue)\""
        text += ",\"category\":" + Self.quoted(category.rawValue)
        var json = Array(text.utf8)
        for field in otherFields { json += Array(("," + Self.quoted(field.name) + ":").utf8) + field.json }
        return json + [UInt8(ascii: "}")]
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        if isPlain { return "\"\(text)\"" }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.isInvisible: quoted += scalar.jsonEscape
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension Unicode.Scalar {
    /// Whether the character has no visible form of its own: a control or format character, a line or paragraph
    /// separator, or a character that is unassigned or for private use.
    ///
    /// False for the joiners U+200C and U+200D, as in emoji, which are invisible but harmless.
    public var isInvisible: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: return true
        case .format: return value != 0x200C && value != 0x200D
        default: return false
        }
    }

    /// The character as an ASCII escape for a JSON string: one `\uXXXX` or two.
    var jsonEscape: String {
        String(self).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

extension JSONObject {
    fileprivate func value(_ name: String) throws(RescueError) -> Range<Int> {
        guard let field = fields.first(where: { $0.name == name }) else {
            throw RescueError(.missingField, field: name)
        }
        return field.value
    }

    fileprivate func text<Value>(
        _ name: String, expected: String, _ read: (String) -> Value?
    ) throws(RescueError) -> Value {
        let range = try value(name)
        guard isString(range) else {
            throw RescueError(.wrongType, at: range.lowerBound, field: name, expected: "a string")
        }
        guard let value = read(try string(range)) else {
            throw RescueError(.invalidValue, at: range.lowerBound, field: name, expected: expected)
        }
        return value
    }

    fileprivate func number(_ name: String, expected: String) throws(RescueError) -> Double {
        let range = try value(name)
        guard isNumber(range) else {
            throw RescueError(.wrongType, at: range.lowerBound, field: name, expected: "a number")
        }
        guard let number = number(range) else {
            throw RescueError(.invalidValue, at: range.lowerBound, field: name, expected: expected)
        }
        return number
    }
}
