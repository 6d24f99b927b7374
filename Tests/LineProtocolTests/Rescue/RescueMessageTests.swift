import LineProtocol
import TestSupport
import Testing

@Suite struct RescueMessageTests {
    /// The example message of docs/protocols.md.
    static let example = """
        {"id":"6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B11","content":"Hamilton Hall flooding","latitude":35.911595,
         "longitude":-79.048759,"timestamp":752263200.5,"status":"pending_sync","category":"Flooding"}
        """

    static func read(_ json: String) throws(RescueError) -> RescueMessage { try RescueMessage(json: Array(json.utf8)) }

    /// The example with one field's value replaced, or without the field if the value is nil.
    static func example(_ name: String, _ value: String?) -> String {
        var fields = [
            "id": "\"6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B11\"", "content": "\"x\"", "latitude": "35.5",
            "longitude": "-79.5", "timestamp": "752263200.5", "status": "\"pending_sync\"", "category": "\"SOS\"",
        ]
        fields[name] = value
        return "{" + fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    @Test func `A message is read and written in its wire format`() throws {
        let message = try Self.read(Self.example)
        #expect(message.id.description == "6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B11")
        #expect(message.content == "Hamilton Hall flooding")
        #expect(message.position == RescuePosition(latitude: 35.911595, longitude: -79.048759))
        #expect(message.time == RescueTime(secondsSince2001: 752_263_200.5))
        #expect(message.time.secondsSince1970 == 1_730_570_400.5)
        #expect(message.status == .pendingSync)
        #expect(message.category == .flooding)
        let json = """
            {"id":"6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B11","content":"Hamilton Hall flooding","latitude":35.911595,\
            "longitude":-79.048759,"timestamp":752263200.5,"status":"pending_sync","category":"Flooding"}
            """
        #expect(String(decoding: message.json, as: UTF8.self) == json)
    }

    @Test func `Unknown fields are passed on unchanged`() throws {
        let unknown =
            "\"hops\":[1, 2.50,{\"a\\u0062\":null}],\"n\\u00e4me\":12345678901234567890123,\"category2\":\"}\""
        let json = String(Self.example.dropLast()) + "," + unknown + "}"
        let message = try Self.read(json)
        #expect(message.otherFields.map(\.name) == ["hops", "näme", "category2"])
        let passedOn = String(decoding: message.json, as: UTF8.self)
        let rest = ",\"hops\":[1, 2.50,{\"a\\u0062\":null}],\"näme\":12345678901234567890123,\"category2\":\"}\"}"
        #expect(passedOn.hasSuffix(rest))
        #expect(try Self.read(passedOn) == message)
    }

    @Test func `Only the message's own members are checked, not the members of an unknown field`() throws {
        let unknown = #""x":{"a":1,"a":2,"\ud800":3}"#
        let message = try Self.read(String(Self.example.dropLast()) + "," + unknown + "}")
        #expect(String(decoding: message.json, as: UTF8.self).hasSuffix("," + unknown + "}"))
        let error = #expect(throws: RescueError.self) {
            try Self.read(String(Self.example.dropLast()) + #","x":1,"\u0078":2}"#)
        }
        #expect(error?.code == .duplicateField && error?.field == "x")
    }

    @Test(
        "Input that does not begin like an object is not parsed",
        arguments: ["STATUS", "[1", "\"x", "[[[[[[[[[[[[[[[[["])
    func noObject(text: String) {
        let error = #expect(throws: RescueError.self) { try Self.read(text) }
        #expect(error?.code == .notJSON && error?.offset == 0 && error?.expected == "'{'")
    }

    @Test func `Control characters in an unknown field are escaped or replaced`() throws {
        let json = String(Self.example.dropLast()) + ",\"x\":[\n1,\t\"\u{9B}2J\u{202E}\u{7F}ä\"]}"
        let bytes = Array(json.utf8)
        let message = try RescueMessage(json: bytes)
        #expect(
            String(decoding: message.json, as: UTF8.self).hasSuffix(#""x":[ 1, "\u009b2J\u202e\u007fä"]}"#),
            "\(message)")
        #expect(try RescueMessage(json: message.json) == message)
        // Invalid UTF-8 in the unknown field does not cost the message.
        let index = try #require(bytes.lastIndex(of: UInt8(ascii: "2")))
        let broken = try RescueMessage(json: bytes[..<index] + [0xFF] + bytes[(index + 1)...])
        #expect(try RescueMessage(json: broken.json) == broken)
    }

    @Test func `A message of maximum length can be read again after escaping`() throws {
        let room = RescueFramer.lengthLimit - Self.example.utf8.count
        let json = Self.example.replacing("Hamilton Hall flooding", with: String(repeating: "\u{7F}", count: room))
        let message = try Self.read(json)
        #expect(try RescueMessage(json: message.json) == message)
    }

    @Test func `An unknown category is kept`() throws {
        let message = try Self.read(Self.example("category", "\"Alien Landing\""))
        #expect(message.category.rawValue == "Alien Landing")
        #expect(!RescueCategory.known.contains(message.category))
        #expect(String(decoding: message.json, as: UTF8.self).contains("\"category\":\"Alien Landing\""))
    }

    @Test(arguments: [
        ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\u{8}\u{C}\n\r\t"), ("\"\\u00e9\\uD83C\\uDF0a\"", "é🌊"),
        ("\"\\u0000\"", "\0"), ("\"🌊é\"", "🌊é"), ("\"\"", ""),
        ("\"\u{7F}\u{9B}31m\u{202E}\"", "\u{7F}\u{9B}31m\u{202E}"),
    ])
    func `Text may hold any character and survives a round trip`(json: String, text: String) throws {
        let message = try Self.read(Self.example("content", json))
        #expect(Array(message.content.unicodeScalars) == Array(text.unicodeScalars))
        #expect(try RescueMessage(json: message.json) == message)
    }

    @Test func `No control character is written`() throws {
        var message = try Self.read(Self.example)
        message.content = "\u{1B}[2J\u{9B}m\u{7F}\r\n\u{202E}\u{2028}\u{FEFF}\u{E0041}👩‍🚒"
        message.category = RescueCategory(rawValue: "\u{1B}c")
        let json = String(decoding: message.json, as: UTF8.self)
        for scalar in json.unicodeScalars { #expect(scalar.isPrintable) }
        #expect(json.contains("👩‍🚒"))
        #expect(try Self.read(json) == message)
    }

    /// The timestamp is in seconds since 2001. It is valid from the year 1, which begins with -63113904000, to 9999.
    @Test(arguments: [
        ("latitude", "90"), ("latitude", "-90.0"), ("longitude", "180"), ("longitude", "-1.8E+2"), ("latitude", "-0"),
        ("timestamp", "0"), ("timestamp", "-63113904000"), ("id", "\"6f1e2c1a-0b7b-4c0e-9a77-0e2a6e6d2b11\""),
        ("status", "\"synced\""), ("latitude", "1e-400"),
    ])
    func `Values at the limits and in unusual forms are accepted`(name: String, value: String) throws {
        let message = try Self.read(Self.example(name, value))
        #expect(try RescueMessage(json: message.json) == message)
    }

    @Test(
        arguments: [
            ("latitude", "90.0001", .invalidValue), ("latitude", "-91", .invalidValue),
            ("longitude", "180.5", .invalidValue),
            ("longitude", "1e999", .invalidValue), ("latitude", "-1e999", .invalidValue), ("latitude", "NaN", .notJSON),
            ("latitude", "Infinity", .notJSON), ("latitude", "\"NaN\"", .wrongType), ("latitude", "null", .wrongType),
            ("timestamp", "1e15", .invalidValue), ("timestamp", "252423993600", .invalidValue),
            ("timestamp", "\"2024-11-02\"", .wrongType), ("timestamp", nil, .missingField), ("id", nil, .missingField),
            ("id", "\"\"", .invalidValue), ("id", "\"6F1E2C1A0B7B4C0E9A770E2A6E6D2B11\"", .invalidValue),
            ("id", "\"6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B1G\"", .invalidValue), ("id", "12", .wrongType),
            ("id", "\"6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B1é\"", .invalidValue),
            ("content", "[]", .wrongType), ("content", nil, .missingField), ("category", "7", .wrongType),
            ("status", "\"lost\"", .invalidValue), ("status", "true", .wrongType),
            ("content", "\"\\ud800\"", .invalidText),
            ("content", "\"\\udc00\\ud800\"", .invalidText), ("content", "\"\\ud800\\u0041\"", .invalidText),
            ("content", "\"\\ud83c\"", .invalidText),
        ] as [(String, String?, RescueError.Code)])
    func `An invalid field is refused and named`(name: String, value: String?, code: RescueError.Code) {
        let error = #expect(throws: RescueError.self) { try Self.read(Self.example(name, value)) }
        #expect(error?.code == code)
        if ![.notJSON, .invalidText].contains(code) { #expect(error?.field == name) }
    }

    @Test func `A duplicate field is refused, however it is written`() {
        for twice in [",\"status\":\"synced\"}", ",\"st\\u0061tus\":\"synced\"}"] {
            let error = #expect(throws: RescueError.self) { try Self.read(Self.example.dropLast() + twice) }
            #expect(error?.code == .duplicateField)
            #expect(error?.field == "status")
        }
    }

    @Test func `Invalid UTF-8 in a known field is refused`() {
        let invalid: [[UInt8]] = [
            [0x80], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
        ]
        for bytes in invalid {
            let parts = Self.example.split(separator: "Hamilton").map { Array($0.utf8) }
            let error = #expect(throws: RescueError.self) { try RescueMessage(json: parts[0] + bytes + parts[1]) }
            #expect(error?.code == .invalidText)
        }
    }

    @Test(
        arguments: [
            ("", .truncated), ("{", .truncated), ("[]", .notJSON), ("{}{}", .notJSON), ("\u{FEFF}{}", .notJSON),
            ("{}", .missingField), ("  {}\r\n", .missingField), ("{'id':1}", .notJSON), ("{\"a\":01}", .notJSON),
            ("{\"a\":+1}", .notJSON), ("{\"a\":.5}", .notJSON), ("{\"a\":5.}", .notJSON), ("{\"a\":1e}", .notJSON),
            ("{\"a\":-}", .notJSON), ("{\"a\":0x10}", .notJSON), ("{\"a\":1,}", .notJSON), ("{\"a\":[1,]}", .notJSON),
            ("{\"a\" 1}", .notJSON), ("{\"a\":}", .notJSON), ("{,}", .notJSON), ("{\"a\":tru}", .notJSON),
            ("{\"a\":nulll}", .notJSON), ("{\"a\":[}", .notJSON), ("{\"a\":{]}", .notJSON),
            ("{\"a\":\"\\x41\"}", .notJSON),
            ("{\"a\":\"\\u12g4\"}", .notJSON), ("{\"a\":\"\n\"}", .notJSON), ("{\"a\":\"\0\"}", .notJSON),
            ("{a:1}", .notJSON), ("{\"a\":1 /* b */}", .notJSON), ("{\"a\":\"b", .truncated), ("{\"a\":1", .truncated),
        ] as [(String, RescueError.Code)])
    func `Invalid JSON is refused with its reason`(json: String, code: RescueError.Code) {
        let error = #expect(throws: RescueError.self) { try Self.read(json) }
        #expect(error?.code == code)
        #expect(error?.description.isEmpty == false)
    }

    @Test func `Depth and length are bounded`() {
        let depth = RescueFramer.depthLimit
        func nested(_ count: Int) -> String {
            "{\"a\":" + String(repeating: "[", count: count - 1) + String(repeating: "]", count: count - 1) + "}"
        }
        let digits = "{\"a\":" + String(repeating: "9", count: 10_000) + "}"
        let long = "{\"a\":\"" + String(repeating: "x", count: RescueMessage.jsonLimit) + "\"}"
        let bounds: [(String, RescueError.Code)] = [
            (nested(depth), .missingField), (nested(depth + 1), .tooDeep), (nested(30_000), .tooDeep),
            (long, .tooLong), (digits, .missingField),
        ]
        for (json, code) in bounds {
            let error = #expect(throws: RescueError.self) { try Self.read(json) }
            #expect(error?.code == code)
        }
    }

    @Test func `An id is a random UUID of version 4`() {
        var generator = SplitMix64(seed: 4)
        let ids = (0..<1000).map { _ in RescueID.random(using: &generator) }
        #expect(Set(ids).count == 1000)
        for id in ids {
            #expect(
                id.description.wholeMatch(of: /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/)
                    != nil)
            #expect(RescueID(id.description.lowercased()) == id)
        }
    }

    @Test(arguments: [(Double.nan, 0), (0, .nan), (.infinity, 0), (90.1, 0), (0, -180.1)] as [(Double, Double)])
    func `An invalid position or time is refused`(latitude: Double, longitude: Double) {
        #expect(RescuePosition(latitude: latitude, longitude: longitude) == nil)
        #expect(RescueTime(secondsSince2001: .nan) == nil)
    }
}
