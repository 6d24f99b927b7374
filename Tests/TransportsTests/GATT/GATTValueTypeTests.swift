import Foundation
import Testing
import Transports

@Suite("Typed values of characteristics") struct GATTValueTypeTests {
    struct Row: Sendable {
        var type: GATTValueType
        var words: [String]
        var bytes: [UInt8]
        /// The shown form; nil if it equals the words.
        var shown: String?
        var isBigEndian = false
    }

    static let rows = [
        Row(type: .text, words: ["héllo"], bytes: [0x68, 0xC3, 0xA9, 0x6C, 0x6C, 0x6F]),
        Row(type: .text, words: [""], bytes: []),
        Row(type: .hex, words: ["01ff"], bytes: [1, 0xFF], shown: "01 ff"),
        Row(type: .hex, words: ["0x01FF", "02:03-04"], bytes: [1, 0xFF, 2, 3, 4], shown: "01 ff 02 03 04"),
        Row(type: .u8, words: ["0", "255"], bytes: [0, 255]),
        Row(type: .u8, words: ["0x1f"], bytes: [31], shown: "31"),
        Row(type: .i8, words: ["-128", "127"], bytes: [0x80, 0x7F]),
        Row(type: .u16, words: ["258"], bytes: [2, 1]),
        Row(type: .u16, words: ["258"], bytes: [1, 2], isBigEndian: true),
        Row(type: .i16, words: ["-2"], bytes: [0xFE, 0xFF]),
        Row(type: .u32, words: ["4294967295", "1"], bytes: [255, 255, 255, 255, 1, 0, 0, 0]),
        Row(type: .i32, words: ["-2147483648"], bytes: [0, 0, 0, 0x80]),
        Row(type: .f32, words: ["1.5"], bytes: [0, 0, 0xC0, 0x3F]),
        Row(type: .f32, words: ["-1.5"], bytes: [0xBF, 0xC0, 0, 0], isBigEndian: true),
    ]

    @Test(arguments: rows) func `A value is encoded from its words and decoded to the same words`(row: Row) throws {
        let bytes = try row.words.flatMap { try row.type.bytes(of: $0, isBigEndian: row.isBigEndian) }
        #expect(bytes == row.bytes)
        let content = row.type.content(of: row.bytes, isBigEndian: row.isBigEndian)
        #expect(content?.text == row.shown ?? row.words.joined(separator: " "))
    }

    @Test(arguments: [
        (GATTValueType.u8, "256"), (.u8, "-1"), (.i8, "128"), (.i8, "-129"), (.u16, "65536"), (.i16, "32768"),
        (.u32, "4294967296"), (.i32, "2147483648"), (.u8, "1.5"), (.u8, ""), (.u8, "--1"), (.u8, "+1"), (.u8, "x"),
        (.u32, "99999999999999999999"), (.f32, "one"), (.hex, "1"), (.hex, "0g"), (.hex, ""), (.hex, "0x"),
        (.hex, "０１"), (.u8, "0x+1"), (.i8, "-0x-1"), (.u8, "１"),
    ])
    func `A word outside the type's range or form is refused`(type: GATTValueType, word: String) {
        #expect(throws: GATTValueError.self) { try type.bytes(of: word) }
    }

    @Test func `Bytes of the wrong length for a type are not decoded`() {
        #expect(GATTValueType.u16.content(of: [1, 2, 3]) == nil)
        #expect(GATTValueType.u8.content(of: []) == nil)
        #expect(GATTValueType.text.content(of: [0xFF]) == nil)
    }

    @Test func `A refusal names the valid range or form`() {
        let refused: [(GATTValueType, String, String)] = [
            (.u8, "256", "'256' is not a value of type u8: 0 to 255"), (.f32, "one", "'one' is not a number"),
            (.hex, "1", "'1' is not hexadecimal: two digits for each byte"),
        ]
        for (type, word, text) in refused {
            let error = #expect(throws: GATTValueError.self) { try type.bytes(of: word) }
            #expect(error.map { "\($0)" } == text)
        }
    }

    @Test(
        arguments: [
            (.text("a \"b\""), #""a \"b\"""#), (.numbers([.whole(-2)]), "-2"),
            (.numbers([.whole(1), .whole(2)]), "[1,2]"),
            (.numbers([.real(.infinity)]), "null"), (.numbers([.real(1.5), .real(.nan)]), "[1.5,null]"),
        ] as [(GATTContent, String)])
    func `Values become strings, numbers and arrays in JSON`(content: GATTContent, json: String) throws {
        #expect(String(decoding: try JSONEncoder().encode(content), as: UTF8.self) == json)
    }
}

@Suite("Values of characteristics as text") struct GATTFormatTests {
    @Test func `Untyped bytes are shown in hexadecimal, and as text if printable`() {
        let format = GATTFormat()
        #expect(format.text(of: Array("v1.2".utf8)) == "76 31 2e 32  \"v1.2\"")
        #expect(format.text(of: [0x1B, 0x5B]) == "1b 5b")
        #expect(format.text(of: [0xFF]) == "ff")
        #expect(format.text(of: []) == "(empty)")
    }

    @Test func `Bytes that do not fit their type are shown in hexadecimal`() {
        #expect(GATTFormat(type: .u16).text(of: [1, 2, 3]) == "01 02 03")
    }
}
