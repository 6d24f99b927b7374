import BlueZ
import Testing
import Transports

@Suite struct GATTValueTests {
    @Test func `A boolean value is one byte, and 0 means off`() {
        let boolean = GATTValue.Encoding.boolean
        for byte in UInt8.min...UInt8.max { #expect(boolean.text(bytes: [byte]) == (byte == 0 ? "0" : "1")) }
        for none: [UInt8] in [[], [1, 2], [0, 1], [1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0, 0]] {
            #expect(boolean.text(bytes: none) == nil)
        }
        // A sketch that calls setValue(int) or setValue(uint16_t) sends four bytes or two.
        #expect(boolean.text(bytes: [1, 0, 0, 0]) == "1")
        #expect(boolean.text(bytes: [0, 0, 0, 0]) == "0")
        #expect(boolean.text(bytes: [7, 0]) == "1")
        #expect(boolean.bytes(text: "1") == [1])
        #expect(boolean.bytes(text: "0") == [0])
        for none in ["", "2", "10", " 1", "on"] { #expect(boolean.bytes(text: none) == nil) }
    }

    @Test func `A number value is little-endian`() {
        let number = GATTValue.Encoding.unsigned(byteCount: 2)
        #expect(number.text(bytes: [0x34, 0x12]) == "4660")
        #expect(number.bytes(text: "4660") == [0x34, 0x12])
        #expect(number.bytes(text: "65535") == [0xFF, 0xFF])
        for none in ["", "65536", "+1", "-1", "1.0", " 1"] { #expect(number.bytes(text: none) == nil) }
        for none: [UInt8] in [[], [1], [1, 2, 3]] { #expect(number.text(bytes: none) == nil) }
        let long = GATTValue.Encoding.unsigned(byteCount: 8)
        #expect(long.bytes(text: "\(UInt64.max)") == [UInt8](repeating: 0xFF, count: 8))
        #expect(long.text(bytes: [UInt8](repeating: 0xFF, count: 8)) == "\(UInt64.max)")
        for odd in [-1, 0, 9] {
            let encoding = GATTValue.Encoding.unsigned(byteCount: odd)
            #expect(encoding.bytes(text: "1") == nil)
            #expect(encoding.text(bytes: [UInt8](repeating: 1, count: max(odd, 0))) == nil)
        }
    }

    @Test func `A text value is one line of UTF-8`() {
        let text = GATTValue.Encoding.text
        #expect(text.text(bytes: Array("a:ü".utf8)) == "a:ü")
        #expect(text.bytes(text: "a:ü") == Array("a:ü".utf8))
        #expect(text.text(bytes: []) == "")
        #expect(text.bytes(text: String(repeating: "x", count: 513)) == nil)
        for none: [UInt8] in [[0xFF], Array("a\nb".utf8), [0x0D]] { #expect(text.text(bytes: none) == nil) }
    }

    @Test(
        arguments: [
            ([0], "LED:0"), ([1], "LED:1"), ([0x80], "LED:1"), ([], "LED:0x"), ([1, 2], "LED:0x0102"),
        ] as [([UInt8], String)])
    func `Bytes of a characteristic become a line, hexadecimal if they are no value`(
        bytes: [UInt8], line: String
    ) {
        #expect(GATTValue("LED", characteristic: "FFB1", encoding: .boolean).line(bytes: bytes) == line)
    }
}
