internal import StrictJSON

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
            self = try Self.read(Self.object(json))
        } catch {
            var error = error
            error.excerpt = Array(json.prefix(RescueError.excerptLength))
            throw error
        }
    }

    /// Parses an object. A duplicate name is a fault only among the object's own members: the contents of other fields
    /// are passed on as they are.
    private static func object(_ json: [UInt8]) throws(RescueError) -> JSONValue {
        let start = json.firstIndex { !$0.isJSONBlank } ?? 0
        if start < json.count, json[start] != UInt8(ascii: "{") {
            throw RescueError(.notJSON, at: start, expected: "'{'")
        }
        do throws(JSONError) {
            let value = try JSONValue(json, depth: RescueFramer.depthLimit, size: jsonLimit, isLenient: true)
            var names: Set<String> = []
            for member in value.members ?? [] {
                let name = try member.nameValue.decodedText()
                guard names.insert(name).inserted else {
                    throw JSONError(.duplicateName(name), at: member.nameValue.bytes.startIndex)
                }
            }
            return value
        } catch {
            throw RescueError(error)
        }
    }

    private static func read(_ object: JSONValue) throws(RescueError) -> RescueMessage {
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
            otherFields: (object.members ?? []).filter { !names.contains($0.name) }.map {
                RescueField(name: $0.name, json: Array($0.value.bytes))
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
        var object = JSONObjectBuilder()
        object.add("id", text: "\(id)")
        object.add("content", text: content)
        object.add("latitude", .number(position.latitude))
        object.add("longitude", .number(position.longitude))
        object.add("timestamp", .number(time.secondsSince2001))
        object.add("status", text: status.rawValue)
        object.add("category", text: category.rawValue)
        for field in otherFields { object.add(field.name, json: field.json) }
        return object.bytes
    }
}

extension JSONValue {
    fileprivate func field(_ name: String) throws(RescueError) -> JSONValue {
        guard let value = self[name] else { throw RescueError(.missingField, field: name) }
        return value
    }

    fileprivate func text<Value>(
        _ name: String, expected: String, _ read: (String) -> Value?
    ) throws(RescueError) -> Value {
        let field = try field(name)
        guard field.isText else {
            throw RescueError(.wrongType, at: field.bytes.startIndex, field: name, expected: "a string")
        }
        let text: String
        do throws(JSONError) { text = try field.decodedText() } catch { throw RescueError(error) }
        guard let value = read(text) else {
            throw RescueError(.invalidValue, at: field.bytes.startIndex, field: name, expected: expected)
        }
        return value
    }

    fileprivate func number(_ name: String, expected: String) throws(RescueError) -> Double {
        let field = try field(name)
        guard field.isNumber else {
            throw RescueError(.wrongType, at: field.bytes.startIndex, field: name, expected: "a number")
        }
        guard let number = field.number else {
            throw RescueError(.invalidValue, at: field.bytes.startIndex, field: name, expected: expected)
        }
        return number
    }
}

extension RescueError {
    init(_ error: JSONError) {
        let (code, field): (Code, String?) =
            switch error.code {
            case .notJSON: (.notJSON, nil)
            case .truncated: (.truncated, nil)
            case .tooLong: (.tooLong, nil)
            case .tooDeep: (.tooDeep, nil)
            case .invalidText: (.invalidText, nil)
            case .duplicateName(let name): (.duplicateField, name)
            }
        self.init(code, at: error.offset, field: field, expected: error.expected)
    }
}
