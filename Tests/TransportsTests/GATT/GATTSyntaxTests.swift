import Testing
import Transports

@Suite("Typed requests on characteristics") struct GATTSyntaxTests {
    private func request(_ words: String..., type: GATTValueType? = nil) throws -> GATTRequest {
        try GATTRequest(words, as: GATTFormat(type: type))
    }

    @Test func `A request is read from its words, with or without a device`() throws {
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
        // Ambiguous: could be text or a number.
        ["ble:x", "write", "2A19", "10"], ["ble:x", "write", "2A19", "0x1"],
    ])
    func `An incomplete or ambiguous request is refused`(words: [String]) {
        #expect(throws: GATTSyntaxError.self) { try GATTRequest(words) }
    }

    @Test func `A refused request is explained`() {
        let errors: [([String], GATTValueType?, GATTSyntaxError, String)] = [
            (["ble:x", "peek"], nil, .unknownAction("peek"), "unknown action 'peek'; use: list, read"),
            (["list", "2A19"], nil, .superfluous("2A19"), "list takes no characteristic: '2A19'"),
            (["notify"], nil, .noCharacteristic(.notify), "notify needs a characteristic; use: 2A19"),
            (["read", "2A1"], nil, .badCharacteristic("2A1"), "'2A1' is not a characteristic; use: 2A19"),
            (["write", "2A19"], .u8, .noValue, "write needs a value"),
            (["write", "2A19", "10"], nil, .untyped("10"), "'10' needs a type"),
            (["write", "2A19", "a", "b"], .text, .severalTexts, "text must be one argument: put the text in quotes"),
        ]
        for (words, type, error, text) in errors {
            let thrown = #expect(throws: GATTSyntaxError.self) { try GATTRequest(words, as: GATTFormat(type: type)) }
            #expect(thrown == error && thrown?.description.hasPrefix(text) == true, "\(words)")
        }
    }

    @Test func `Several numbers are written one after another, in their type and byte order`() throws {
        let words = ["write", "2A19", "1", "2"]
        #expect(try GATTRequest(words, as: GATTFormat(type: .u16)).value == [1, 0, 2, 0])
        #expect(try GATTRequest(words, as: GATTFormat(type: .u16, isBigEndian: true)).value == [0, 1, 0, 2])
    }
}
