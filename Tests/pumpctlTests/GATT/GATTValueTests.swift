import Testing

@testable import pumpctl

@Suite("Values of characteristics") struct GATTValueTests {
    struct Row: Sendable {
        var type: GATTValueType
        var words: [String]
        var bytes: [UInt8]
        /// As it is shown; nil for the words.
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

    @Test(arguments: rows) func `Are written as they are typed, and shown as they were written`(row: Row) throws {
        #expect(try row.type.bytes(of: row.words, isBigEndian: row.isBigEndian) == row.bytes)
        let value = row.type.value(of: row.bytes, isBigEndian: row.isBigEndian)
        #expect(value?.phrase == row.shown ?? row.words.joined(separator: " "))
    }

    @Test(arguments: [
        (GATTValueType.u8, "256"), (.u8, "-1"), (.i8, "128"), (.i8, "-129"), (.u16, "65536"), (.i16, "32768"),
        (.u32, "4294967296"), (.i32, "2147483648"), (.u8, "1.5"), (.u8, ""), (.u8, "--1"), (.u8, "+1"), (.u8, "x"),
        (.u32, "99999999999999999999"), (.f32, "one"), (.hex, "1"), (.hex, "0g"), (.hex, ""), (.hex, "0x"),
    ])
    func `That are none of their type are refused`(type: GATTValueType, word: String) {
        #expect(throws: ValueFlaw.self) { try type.bytes(of: [word], isBigEndian: false) }
    }

    @Test func `Of a length that the type has not are not shown as the type`() {
        #expect(GATTValueType.u16.value(of: [1, 2, 3], isBigEndian: false) == nil)
        #expect(GATTValueType.u8.value(of: [], isBigEndian: false) == nil)
        #expect(GATTValueType.text.value(of: [0xFF], isBigEndian: false) == nil)
        #expect(GATTFormat(type: .u16, isBigEndian: false).phrase([1, 2, 3]) == "01 02 03")
    }

    @Test func `Without a type are hexadecimals, and text where that is printable`() {
        let format = GATTFormat(isBigEndian: false)
        #expect(format.phrase(Array("v1.2".utf8)) == "76 31 2e 32  \"v1.2\"")
        #expect(format.phrase([0x1B, 0x5B]) == "1b 5b")
        #expect(format.phrase([0xFF]) == "ff")
        #expect(format.phrase([]) == "(empty)")
    }
}

@Suite("What 'pumpctl gatt' is asked to do") struct GATTRequestTests {
    private func request(_ words: String..., type: GATTValueType? = nil) throws -> GATTRequest {
        try GATTRequest(words, type: type, isBigEndian: false)
    }

    @Test func `Is read from its words, with the device or without`() throws {
        let list = try request("ble:x")
        #expect(list.endpoint == "ble:x" && list.action == .list)
        #expect(try request("list").endpoint == nil)
        let read = try request("ble:x", "read", "2A19", "0x2A00", "180F/2A19", "char0012")
        #expect(read.characteristics.map(\.text) == ["2A19", "0x2A00", "180F/2A19", "char0012"])
        let write = try request("write", "FFE1", "0x01ff")
        #expect(write.endpoint == nil && write.action == .write && write.value == [1, 0xFF])
        #expect(try request("ble:x", "write", "FFE1", "10", type: .u8).value == [10])
        #expect(try request("ble:x", "write", "FFE1", "10", type: .text).value == [0x31, 0x30])
    }

    @Test(arguments: [
        ["ble:x", "peek"], ["ble:x", "list", "2A19"], ["ble:x", "read"], ["ble:x", "notify"], ["ble:x", "write"],
        ["ble:x", "write", "2A19"], ["ble:x", "read", "2A1"], ["ble:x", "read", "1/2/3"], ["ble:x", "read", "charx"],
        // Of which nobody knows whether it is text or a number.
        ["ble:x", "write", "2A19", "10"], ["ble:x", "write", "2A19", "0x1"],
    ])
    func `Is refused where it is not whole`(words: [String]) {
        #expect(throws: (any Error).self) { try GATTRequest(words, type: nil, isBigEndian: false) }
    }
}
