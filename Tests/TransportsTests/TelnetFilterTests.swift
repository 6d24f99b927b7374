import TestSupport
import Testing

@testable import Transports

@Suite("Telnet negotiation in a stream")
struct TelnetFilterTests {
    /// A stream of bytes, the data in it, and whether it counts as Telnet.
    struct Stream: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var data: [UInt8]
        var isTelnet = true

        init(_ name: String, _ bytes: [UInt8], gives data: [UInt8], isTelnet: Bool = true) {
            (self.name, self.bytes, self.data, self.isTelnet) = (name, bytes, data, isTelnet)
        }

        /// A stream that is not Telnet and stays unchanged.
        init(raw name: String, _ bytes: [UInt8]) { self.init(name, bytes, gives: bytes, isTelnet: false) }

        var testDescription: String { name }
    }

    private static let ok = Array("OK\r\n".utf8)
    /// WILL SUPPRESS-GO-AHEAD, DO ECHO.
    private static let greeting: [UInt8] = [0xFF, 0xFB, 0x03, 0xFF, 0xFD, 0x01]

    static let streams = [
        Stream(raw: "nothing", []),
        Stream(raw: "text", ok),
        Stream(raw: "text with IAC behind its first byte", [0x4F] + greeting + ok),
        Stream(raw: "0xFF alone", [0xFF]),
        Stream(raw: "0xFF and text", [0xFF] + ok),
        Stream(raw: "0xFF twice", [0xFF, 0xFF] + greeting),
        Stream(raw: "a subnegotiation first", [0xFF, 0xFA, 0x2C, 0xFF, 0xF0]),
        Stream(raw: "a command of two bytes first", [0xFF, 0xF1] + greeting),
        Stream("negotiations alone", greeting, gives: []),
        Stream("negotiations, then text", greeting + ok, gives: ok),
        Stream(
            "WILL, WONT, DO and DONT in text",
            greeting + ok + [0xFF, 0xFB, 1, 0xFF, 0xFC, 2] + ok
                + [0xFF, 0xFD, 3, 0xFF, 0xFE, 0xFF] + ok, gives: ok + ok + ok),
        Stream("a subnegotiation", greeting + [0xFF, 0xFA, 0x2C, 0x01, 0xFF, 0xF0] + ok, gives: ok),
        Stream(
            "a subnegotiation with 0xFF in it",
            greeting + [0xFF, 0xFA, 0x2C, 0xFF, 0xFF, 0xF0, 0x4F, 0xFF, 0xF0] + ok, gives: ok),
        Stream(
            "a subnegotiation whose end was left out",
            greeting + [0xFF, 0xFA, 0x2C, 0xFF, 0xFB, 0x01] + ok, gives: ok),
        Stream("commands of two bytes", greeting + [0xFF, 0xF1] + ok + [0xFF, 0xF9] + ok, gives: ok + ok),
        Stream("0xFF as data", greeting + [0x4F, 0xFF, 0xFF, 0x4B], gives: [0x4F, 0xFF, 0x4B]),
        Stream(
            "0xFF as data, and a negotiation behind it",
            greeting + [0xFF, 0xFF, 0xFF, 0xFE, 0x01] + ok, gives: [0xFF] + ok),
        Stream("an end in the middle of a negotiation", greeting + ok + [0xFF, 0xFD], gives: ok),
    ]

    private func filter(_ pieces: [ArraySlice<UInt8>]) -> (data: [UInt8], isTelnet: Bool) {
        var filter = TelnetFilter()
        var data: [UInt8] = []
        for piece in pieces { data += filter.take(Array(piece)) }
        data += filter.finish()
        return (data, filter.isTelnet)
    }

    @Test("Negotiation is removed and nothing else, in one piece and byte by byte", arguments: streams)
    func table(stream: Stream) {
        for pieces in [[stream.bytes[...]], stream.bytes.indices.map { stream.bytes[$0...$0] }] {
            let result = filter(pieces)
            #expect(result.data == stream.data)
            #expect(result.isTelnet == stream.isTelnet)
        }
    }

    @Test("Negotiation is removed wherever the stream is cut")
    func cuts() {
        for stream in Self.streams {
            for first in 0...stream.bytes.count {
                for second in first...stream.bytes.count {
                    let pieces = [stream.bytes[..<first], stream.bytes[first..<second], stream.bytes[second...]]
                    #expect(filter(pieces).data == stream.data, "\(stream.name), cut at \(first) and \(second)")
                }
            }
        }
    }

    @Test("Generated negotiation is removed, and every data byte is kept", arguments: 0..<20)
    func generated(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            var (bytes, data) = (Self.greeting, [UInt8]())
            for _ in 0..<random.number(below: 12) {
                let (wire, text) = Self.part(&random)
                bytes += wire
                data += text
            }
            let result = filter(Self.pieces(of: bytes, &random))
            #expect(result.data == data)
            #expect(result.isTelnet)
        }
    }

    @Test("A generated raw stream passes unchanged", arguments: 0..<20)
    func rawStreams(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            var bytes = (0..<random.number(below: 40)).map { _ in
                random.number(below: 3) == 0 ? UInt8(0xF0 + random.number(below: 16)) : UInt8(random.number(below: 256))
            }
            // A stream that begins with a negotiation would be Telnet.
            if bytes.count > 1, bytes[0] == 0xFF, (0xFB...0xFE).contains(bytes[1]) { bytes[1] = 0x41 }
            let result = filter(Self.pieces(of: bytes, &random))
            #expect(result.data == bytes)
            #expect(!result.isTelnet)
        }
    }

    /// Some bytes on the wire, and the data that they carry.
    private static func part(_ random: inout SplitMix64) -> (wire: [UInt8], data: [UInt8]) {
        switch random.number(below: 6) {
        case 0: return ([0xFF, UInt8(0xFB + random.number(below: 4)), UInt8(random.number(below: 256))], [])
        case 1: return ([0xFF, UInt8(0xF1 + random.number(below: 9))], [])
        case 2: return ([0xFF, 0xFF], [0xFF])
        case 3:
            let content = (0..<random.number(below: 6)).flatMap { _ in
                let byte = UInt8(random.number(below: 256))
                return byte == 0xFF ? [byte, byte] : [byte]
            }
            return ([0xFF, 0xFA] + content + [0xFF, 0xF0], [])
        default:
            let text = (0..<random.number(below: 20)).map { _ in UInt8(random.number(below: 255)) }
            return (text, text)
        }
    }

    /// Cuts `bytes` into random pieces of 1 to 7 bytes.
    private static func pieces(of bytes: [UInt8], _ random: inout SplitMix64) -> [ArraySlice<UInt8>] {
        var (pieces, start) = ([ArraySlice<UInt8>](), 0)
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + random.number(below: 7))
            pieces.append(bytes[start..<end])
            start = end
        }
        return pieces
    }
}
