import LineProtocol
import Testing

@Suite struct ESP32ResetFinderTests {
    static let classic =
        "ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n"
        + "configsip: 0, SPIWP:0xee\r\nload:0x3fff0030,len:1184\r\nentry 0x400805f0\r\n"
    static let newer =
        "ESP-ROM:esp32s3-20210327\r\nBuild:Mar 27 2021\r\nrst:0x1 (POWERON),boot:0x8 (SPI_FAST_FLASH_BOOT)\r\n"
        + "entry 0x403c9908\r\n"
    static let early = "ets Jun  8 2016 00:22:57\r\n\r\nrst:0x10 (RTCWDT_RTC_RESET),boot:0x13\r\n"

    @Test(arguments: [classic, newer, early], ["", "1 2 3 4", "1 2 3 4\r\n", "e", "ets ets entry rst:0"])
    func `A restart is found within a row, wherever the stream is split`(boot: String, before: String) {
        let bytes = Array((before + boot + "5 6 7 8\r\n").utf8)
        let expected: [ESP32ResetFinder.Piece] =
            (before.isEmpty ? [] : [.bytes(Array(before.utf8))]) + [.reset, .bytes(Array((boot + "5 6 7 8\r\n").utf8))]
        #expect(find([bytes]) == expected)
        #expect(find(bytes.map { [$0] }) == expected)
        for cut in 0...bytes.count { #expect(find([Array(bytes[..<cut]), Array(bytes[cut...])]) == expected) }
    }

    @Test func `Each restart is reported once, even if the chip restarts during its boot`() {
        #expect(find([Array((Self.classic + Self.classic + Self.early + Self.newer).utf8)]).count { $0 == .reset } == 4)
        #expect(find([Array("rst:0x1 (POWERON)\r\nentry 0x4\r\nentry 0x4\r\n".utf8)]).count { $0 == .reset } == 2)
    }

    @Test(
        arguments: [
            "assets Julia 29 2019\n", "ets jul 29 2019\n", "rst:0y1\n", "entry 0xz\n", "ESP-ROM: esp32\n", "ets", "r",
            "LOG Values: 1 e r E 4\nLIVE LOG: rest\n",
        ])
    func `Text that is not of the boot ROM is passed on unchanged`(text: String) {
        #expect(find([Array(text.utf8)]) == [.bytes(Array(text.utf8))])
        #expect(find(Array(text.utf8).map { [$0] }) == [.bytes(Array(text.utf8))])
    }

    @Test(
        arguments: [
            ("rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", "POWERON_RESET"),
            ("1 2rst:0xf (RTCWDT_BROWN_OUT_RESET),boot:0x13", "RTCWDT_BROWN_OUT_RESET"), ("rst:0x3", ""),
            ("rst:0x", nil), ("first:0x1", ""), ("r rst:0 rst:0x1b (A_1) rst:0x2 (B)", "A_1"),
            ("ets Jul 29 2019 12:21:46", nil), ("", nil),
        ] as [(String, String?)])
    func `The reset cause is the word in parentheses; nil means no reset`(line: String, cause: String?) {
        #expect(ESP32Reset(line: Array(line.utf8))?.cause == cause)
    }

    /// Feeds the chunks `arrivals` to a finder; returns its pieces, with adjacent bytes joined.
    private func find(_ arrivals: [[UInt8]]) -> [ESP32ResetFinder.Piece] {
        var finder = ESP32ResetFinder()
        var found: [ESP32ResetFinder.Piece] = []
        for piece in arrivals.flatMap({ finder.append($0) }) + [.bytes(finder.finish())] {
            if case .bytes(let more) = piece, case .bytes(let bytes)? = found.last {
                found[found.count - 1] = .bytes(bytes + more)
            } else if piece != .bytes([]) {
                found.append(piece)
            }
        }
        return found
    }
}
