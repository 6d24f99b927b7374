import Testing
import Transports

@testable import pumpctl

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
