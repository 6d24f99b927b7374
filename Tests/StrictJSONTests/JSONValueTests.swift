import Foundation
import StrictJSON
import TestSupport
import Testing

@Suite("JSON values") struct JSONValueTests {
    @Test("Members are found by name, in objects of any form")
    func members() throws {
        let object = try JSONValue(parsing: #" {"id": 1,"p\u0075mp" :{"x":"a } ] \" b","":[ ]} , "ok":true}"# + "\r\n")
        #expect(object["id"]?.integer == 1)
        #expect(object["pump"]?["x"]?.text == #"a } ] " b"#)
        #expect(object["pump"]?[""]?.elements?.map(\.json) == [])
        #expect(object["ok"]?.boolean == true)
        #expect(object["none"] == nil && object["id"]?["none"] == nil)
        #expect(object.members?.map(\.name) == ["id", "pump", "ok"])
        #expect(
            try JSONValue(parsing: #"[{"a":[1,{"b":"]"}]},"",-2.5e1 ,null]"#).elements?.map(\.json) == [
                #"{"a":[1,{"b":"]"}]}"#, #""""#, "-2.5e1", "null",
            ])
    }

    @Test("A value is kept byte for byte, without the white space around it")
    func bytes() throws {
        let value = try JSONValue(parsing: "\t[1.50,\t{ \"\\u0061\" : 1E2 }] \n")
        #expect(value.json == "[1.50,\t{ \"\\u0061\" : 1E2 }]")
        #expect(value.elements?.first { $0.members != nil }?.json == "{ \"\\u0061\" : 1E2 }")
    }

    @Test("A value of another type is not converted")
    func types() throws {
        let all = try JSONValue(parsing: #"["1",1,1.0,1e999,true,null,[],{}]"#).elements ?? []
        #expect(all.map(\.text) == ["1", nil, nil, nil, nil, nil, nil, nil])
        #expect(all.map(\.integer) == [nil, 1, nil, nil, nil, nil, nil, nil])
        #expect(all.map(\.number) == [nil, 1, 1, nil, nil, nil, nil, nil])
        #expect(all.map(\.boolean) == [nil, nil, nil, nil, true, nil, nil, nil])
        #expect(all.map(\.isNull) == [false, false, false, false, false, true, false, false])
        #expect(all.map { $0.elements != nil } == [false, false, false, false, false, false, true, false])
        #expect(all.map { $0.members != nil } == [false, false, false, false, false, false, false, true])
    }

    @Test(
        "Numbers are rounded to the nearest",
        arguments: [
            ("0", 0), ("-0", -0.0), ("34.5", 34.5), ("-12.05", -12.05), ("0.000000000001", 1e-12),
            ("123456789012345", 123_456_789_012_345), ("9007199254740993", 9_007_199_254_740_992), ("1e-7", 1e-7),
            ("12345678901234.5678", 12_345_678_901_234.5678), ("2.5E+3", 2500),
        ])
    func numbers(json: String, number: Double) throws {
        let value = try JSONValue(parsing: json).number
        #expect(value == number && value?.sign == number.sign)
    }

    @Test(
        "A fault is reported with its position",
        arguments: [
            ("", 0, "more input"), (" \n", 2, "more input"), ("{\"a\":1", 6, "more input"), ("-", 1, "more input"),
            ("tru", 3, "more input"), ("\"a", 2, "more input"), ("1.", 2, "more input"), ("1e+", 3, "more input"),
            ("[1,]", 3, "a value"), ("{\"a\":1}}", 7, "the end of input"), ("1 2", 2, "the end of input"),
            ("01", 1, "the end of input"), ("[1.]", 3, "a digit"), ("[1.e5]", 3, "a digit"), ("[1e]", 3, "a digit"),
            (".5", 0, "a value"), ("+1", 0, "a value"), ("trux", 3, "true, false or null"),
            ("nulll", 4, "the end of input"), ("\"\u{1}\"", 1, "no control character in a string"),
            ("{'a':1}", 1, "the name of a field"), ("\u{FEFF}1", 0, "a value"), ("NaN", 0, "a value"),
            (#"["\x41"]"#, 3, #"one of "\/bfnrtu after '\'"#), (#""\u12G4""#, 5, "four hexadecimal digits"),
            ("[1}", 2, "',' or ']'"), ("{\"a\":1]", 6, "',' or '}'"),
        ])
    func faults(json: String, offset: Int, expected: String) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: json) }
        #expect(error?.offset == offset)
        #expect(error.map { "\($0)" } == "not JSON: expected \(expected) at byte \(offset + 1)")
    }

    @Test("A backslash escapes the eight characters of RFC 8259 and \\u, and no other")
    func escapes() {
        for byte in UInt8(0)...0xFF {
            let value = try? JSONValue(Array(#""\"#.utf8) + [byte] + Array(#"0041""#.utf8), size: 100)
            #expect((value != nil) == #""\/bfnrtu"#.utf8.contains(byte), "\(byte)")
        }
    }

    @Test("A duplicate member is a fault, at any depth, and however its name is escaped")
    func twice() {
        for (json, offset) in [(#"{"a":1,"\u0061":2}"#, 7), (#"[[],{"b":[{"a":1,"a":2}]}]"#, 17)] {
            let error = #expect(throws: JSONError.self) { try JSONValue(parsing: json) }
            #expect(error?.code == .duplicateName("a") && error?.offset == offset)
        }
    }

    @Test("Numbers in an array or object end at a comma, a bracket, a brace and white space")
    func ends() throws {
        for number in ["0", "-0", "12", "1.5", "1e400", "-9223372036854775808", "9223372036854775808"] {
            for json in ["[\(number)]", "[\(number) ]", "[\(number),1]", "{\"a\":\(number)}", "{\"a\":\(number)\n}"] {
                let value = try JSONValue(parsing: json)
                #expect((value.elements?.first ?? value["a"])?.json == number)
            }
        }
        #expect(try JSONValue(parsing: "-9223372036854775808").integer == .min)
        #expect(try JSONValue(parsing: "9223372036854775808").integer == nil)
    }

    @Test(
        "Text that is not Unicode is a fault, in names and in values; in a lenient value such text is nil",
        arguments: [[0xFF], [0xED, 0xA0, 0x80], [0xC3], Array(#"\ud800"#.utf8), Array(#"\udc00\ud800"#.utf8)])
    func invalidText(bytes: [UInt8]) throws {
        let string = Array(#""a\n"#.utf8) + bytes + Array(#"""#.utf8)
        for (start, end) in [("", ""), ("[", "]"), ("{", ":1}"), ("[{\"a\":", "}]")] {
            let json = Array(start.utf8) + string + Array(end.utf8)
            let error = #expect(throws: JSONError.self) { try JSONValue(json, size: 100) }
            #expect(error?.code == .invalidText && (start.utf8.count...json.count).contains(error?.offset ?? -1))
        }
        let value = try JSONValue(Array("[".utf8) + string + Array("]".utf8), size: 100, isLenient: true)
        #expect(value.elements?.map(\.isText) == [true] && value.elements?.map(\.text) == [nil])
    }

    @Test("The caller limits depth and size")
    func limits() {
        func code(_ json: String, depth: Int, size: Int) -> JSONError.Code? {
            do throws(JSONError) { _ = try JSONValue(Array(json.utf8), depth: depth, size: size) } catch {
                return error.code
            }
            return nil
        }
        #expect(code("[{}]", depth: 2, size: 4) == nil)
        #expect(code("[{}]", depth: 1, size: 4) == .tooDeep)
        #expect(code("[{}]", depth: 2, size: 3) == .tooLong)
        #expect(code("1", depth: 0, size: 1) == nil && code("[]", depth: 0, size: 2) == .tooDeep)
        let mixed = String(repeating: "[{\"a\":", count: 32)
        #expect(code(mixed + "1" + String(repeating: "}]", count: 32), depth: 64, size: .max) == nil)
        #expect(code(mixed + "[]" + String(repeating: "}]", count: 32), depth: 64, size: .max) == .tooDeep)
        for opening in ["[", "{\"a\":"] {
            #expect(code(String(repeating: opening, count: 100_000), depth: 64, size: .max) == .tooDeep)
        }
        #expect(code("[" + String(repeating: "[],", count: 100_000) + "0]", depth: 2, size: .max) == nil)
    }

    @Test("In a lenient value both duplicates are kept, and the first is found by name")
    func duplicates() throws {
        let value = try JSONValue(Array(#"{"a":1,"a":2,"é":3,"e\u0301":4}"#.utf8), size: 100, isLenient: true)
        #expect(value.members?.map(\.value.json) == ["1", "2", "3", "4"])
        #expect(value["a"] == 1 && value.dictionary?["a"] == 1)
        // Two names that differ in bytes, though they are equal as strings.
        #expect(try JSONValue(parsing: #"{"é":3,"e\u0301":4}"#).members?.count == 2)
    }

    @Test("Written values are valid, on one line, and escape characters that control a terminal")
    func writing() throws {
        let text = "\u{0}\t\u{1F}\u{7F}\"ä\\/😀\u{9B}\u{202E}👩\u{200D}🚀"
        let value = JSONValue.object([
            "b": .text(text), "a": .array([.integer(-1), .number(0.1), .number(.infinity), .null, true]),
            "": .object([:]),
        ])
        #expect(
            value.json
                == #"{"":{},"a":[-1,0.1,null,null,true],"b":"\u0000\u0009\u001f\u007f\"ä\\/😀\u009b\u202e"#
                + "👩\u{200D}🚀\"}"
        )
        #expect(try JSONValue(parsing: value.json)["b"]?.text == text)
        #expect(try JSONValue(parsing: value.json) == value)
        #expect(JSONValue.text(of: #""\b\f\n\r\t\/\\\"\u00e4\ud83d\ude00""#) == "\u{8}\u{C}\n\r\t/\\\"ä😀")
        #expect(JSONValue.text(of: "null") == nil && JSONValue.text(of: " \"\"") == nil)
        #expect(JSONValue.text(of: "\"\t\"") == nil && JSONValue.text(of: #""\ud800""#) == nil)
    }

    @Test("Lines are taken one at a time, and the rest stays")
    func lines() {
        var lines = JSONLines()
        lines.append(Array("{}\n\n[".utf8))
        #expect(lines.next() == Array("{}".utf8))
        #expect(lines.next() == [])
        #expect(lines.next() == nil && lines.count == 1)
        lines.append(Array("]\nrest".utf8))
        #expect(lines.next() == Array("[]".utf8))
        #expect(lines.takeAll() == Array("rest".utf8))
    }

    @Test("Bytes survive the round trip through base64", arguments: [0, 1, 2, 3, 4, 256, 4096])
    func base64(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        #expect(JSONValue.base64(bytes).text == Data(bytes).base64EncodedString())
        #expect(JSONValue.base64(bytes).base64 == bytes)
    }

    @Test(
        "Base64 is decoded, and anything else is refused",
        arguments: [
            ("", ""), ("YQ==", "a"), ("YWI=", "ab"), ("YWJj", "abc"), ("YWJjZA==", "abcd"), ("Y", nil), ("YQ=", nil),
            ("Y===", nil), ("YQ*=", nil), ("YW Jj", nil), ("=YQ=", nil), ("A=B=", nil), ("AB=C", nil), ("YWJ\\n", nil),
        ])
    func decoding(text: String, bytes: String?) { #expect(JSONValue.text(text).base64 == bytes.map { Array($0.utf8) }) }
}
