import LineProtocol
import TestSupport
import Testing

@Suite struct StormDecoderTests {
    /// The output of a sensor on a link without packet bounds, and the pieces that it decodes into.
    struct Speech: Sendable, CustomTestStringConvertible {
        let text: String
        let pieces: [StormPiece]
        var testDescription: String { text.debugDescription }

        init(_ text: String, _ pieces: StormPiece...) {
            self.text = text
            self.pieces = pieces
        }
    }

    static let speeches = [
        Speech("LOG Values: 1 2 3 4.5\n6 7 8 9\n", .logBegins, .log("1 2 3 4.5\n6 7 8 9\n")),
        Speech("GET_LOG\r\nLOG Values: 1 2 3 4\r\n", .logBegins, .log("1 2 3 4\r\n")),
        Speech("GET_LOG\nLOG Values: x", .logBegins, .log("x")),
        Speech("GET_LOG\rLOG Values: x\r", .logBegins, .log("x\r")),
        Speech("1 2 3 4\n5 6 7 8", .log("1 2 3 4\n5 6 7 8")),
        Speech("LIVE LOG: 1 2 3 4.5\r\n", .live("1 2 3 4.5")),
        Speech("LIVE LOG: 1 2 3 4\nLIVE LOG: 1 2 3 5\r", .live("1 2 3 4"), .live("1 2 3 5")),
        Speech(
            "LOG Values: a\nLIVE LOG: 1 2 3 4\r\nb\n", .logBegins, .log("a\n"), .live("1 2 3 4"), .log("b\n")),
        Speech("LOG Values: \r\n", .logBegins),
        Speech("LOG Values: \nrow\n", .logBegins, .log("row\n")),
        Speech("LOG Values: \r\nLIVE LOG: 1 2 3 4\r\n", .logBegins, .live("1 2 3 4")),
        Speech("a\r\nb\rc\n\n\r\rd", .log("a\r\nb\rc\n\n\r\rd")),
        Speech(
            "GET_LOGS\nLOG Value\nLIVE LOG:1\nLG\nGET_LOG \n", .log("GET_LOGS\nLOG Value\nLIVE LOG:1\nLG\nGET_LOG \n")),
        Speech("xGET_LOG\nx LOG Values: 1\nyLIVE LOG: 1\n", .log("xGET_LOG\nx LOG Values: 1\nyLIVE LOG: 1\n")),
        Speech("LLOG Values: G", .log("LLOG Values: G")),
        Speech("\0\u{FF}é\n", .log("\0\u{FF}é\n")),
        Speech("LIVE LOG: \n1\n", .log("1\n")),
        Speech(
            "GET_LOG\r\n\0LOG Values: a\r\n\0b\r\n\0\0LIVE LOG: 1 2 3 4\0\r\n\0", .logBegins, .log("a\r\n\0b\r\n"),
            .live("1 2 3 4"), .log("\0")),
    ]

    @Test(arguments: speeches)
    func `Each line is classified by its prefix`(_ speech: Speech) {
        #expect(decode([Array(speech.text.utf8)]) == speech.pieces)
    }

    @Test(arguments: speeches)
    func `A log stream can be split anywhere`(_ speech: Speech) {
        let bytes = Array(speech.text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let cut = [bytes[..<first], bytes[first..<second], bytes[second...]].map { Array($0) }
                #expect(decode(cut) == speech.pieces, "cut at \(first) and \(second)")
            }
        }
        #expect(decode(bytes.map { [$0] }) == speech.pieces)
    }

    // The log is random, and rich in text that resembles the prefixes.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func `Each byte of a log is delivered in order`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let words = ["GET_L", "LOG Values:", "LIVE LOG", "\r\n", "\n", "\r", "1 2 3 4.5", "L", "G", ".", "\0"]
        var log: [UInt8] = []
        while log.count < 2000 { log += words.randomElement(using: &random)!.utf8 }
        var stream = Array("GET_LOG\r\nLOG Values: x".utf8) + log
        var cut: [[UInt8]] = []
        while !stream.isEmpty {
            let count = min(stream.count, Int.random(in: 1...40, using: &random))
            cut.append(Array(stream[..<count]))
            stream.removeFirst(count)
        }
        #expect(decode(cut) == [.logBegins, .log([UInt8(ascii: "x")] + log)])
    }

    @Test func `A log without line ends is delivered at once`() {
        var decoder = StormDecoder(keepsPacketBounds: false)
        _ = decoder.append(Array("LOG Values: ".utf8))
        for _ in 0..<100 {
            let piece = [UInt8](repeating: 0x31, count: 4096)
            #expect(decoder.append(piece) == [.log(piece)])
        }
    }

    @Test func `A live row that is too long is cut, and its rest goes to the log`() {
        let row = String(repeating: "9", count: StormDecoder.rowLimit)
        #expect(
            decode([Array("LIVE LOG: \(row)77\nx\n".utf8)])
                == [.live(StormPiece.bytes(row)), .log("77\nx\n")])
    }

    @Test func `A live row cut off by the end of input is dropped, as its value may lack digits`() {
        #expect(decode([Array("LIVE LOG: 1 2 3 4".utf8)]) == [])
        var decoder = StormDecoder(keepsPacketBounds: false)
        _ = decoder.append(Array("LIVE LOG: 1 2".utf8))
        #expect(decoder.isWithinRow)
        _ = decoder.append(Array(" 3 4\n".utf8))
        #expect(!decoder.isWithinRow)
    }

    // MARK: Packets

    @Test(
        arguments: [
            ("GET_LOG", []), ("GET_LOG\n", []), ("LOG Values: ", [.logBegins]),
            ("LOG Values: 1 2 3 4\n5", [.logBegins, .log("1 2 3 4\n5")]), (" 6 7 8\n", [.log(" 6 7 8\n")]),
            ("LIVE LOG: 1 2 3 4", [.live("1 2 3 4")]), ("LIVE LOG: 1 2 3 4\r\n", [.live("1 2 3 4")]),
            ("a\nLIVE LOG: 1 2 3 4", [.log("a\nLIVE LOG: 1 2 3 4")]), ("", []), ("GET", [.log("GET")]),
        ] as [(String, [StormPiece])])
    func `Each packet is classified by its beginning`(packet: String, pieces: [StormPiece]) {
        var decoder = StormDecoder(keepsPacketBounds: true)
        #expect(decoder.append(Array(packet.utf8)) == pieces)
        #expect(decoder.finish() == [])
    }

    @Test func `A long log spans packets, with live rows between them`() {
        let packets = ["GET_LOG", "LOG Values: 1 2 3 4.", "5\n6 7 8 9", "LIVE LOG: 1 1 1 1", ".25\n"]
        #expect(
            decode(packets.map { Array($0.utf8) }, keepsPacketBounds: true)
                == [.logBegins, .log("1 2 3 4.5\n6 7 8 9"), .live("1 1 1 1"), .log(".25\n")])
    }

    @Test func `Each packet of the live characteristic is a row`() {
        var decoder = StormDecoder(of: .live, keepsPacketBounds: true)
        #expect(decoder.append(Array("1 2 3 4.5".utf8)) == [.live("1 2 3 4.5")])
        #expect(decoder.append(Array("LIVE LOG: 1\n".utf8)) == [.live("LIVE LOG: 1")])
        #expect(decoder.append([]) == [])
    }

    @Test func `Rows of the live characteristic in a stream are lines`() {
        var decoder = StormDecoder(of: .live, keepsPacketBounds: false)
        #expect(decoder.append(Array("1 2 3 4.5\r".utf8)) == [.live("1 2 3 4.5")])
        #expect(decoder.append(Array("\n\n6 7".utf8)) == [])
        #expect(decoder.isWithinRow)
        #expect(decoder.append(Array(" 8 9\n".utf8)) == [.live("6 7 8 9")])
        #expect(!decoder.isWithinRow)
    }

    /// Decodes the chunks or packets `arrivals` and the end of input, with adjacent bytes of the log joined.
    private func decode(_ arrivals: [[UInt8]], keepsPacketBounds: Bool = false) -> [StormPiece] {
        var decoder = StormDecoder(keepsPacketBounds: keepsPacketBounds)
        var pieces: [StormPiece] = []
        for piece in arrivals.flatMap({ decoder.append($0) }) + decoder.finish() {
            if case .log(let more) = piece, case .log(let text)? = pieces.last {
                pieces[pieces.count - 1] = .log(text + more)
            } else {
                pieces.append(piece)
            }
        }
        return pieces
    }
}

extension StormPiece {
    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    static func log(_ text: String) -> StormPiece { .log(bytes(text)) }
    static func live(_ text: String) -> StormPiece { .live(bytes(text)) }
}
