import DeviceKit
import LineProtocol
import TestSupport
import Testing

@Suite struct LogCheckTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func `Lines are counted alike wherever the text is cut`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let rows = [
            "1 2 3 4.5", "12 3 104 -0.0123", " 1\t2 3 7 ", "1 2 3 1e3", "1 2 3", "1 2 3 -", "a é b 1", "\0", "",
        ]
        let lines = (0..<200).map { _ in rows.randomElement(using: &random)! }
        var text: [UInt8] = []
        for line in lines { text += Array(line.utf8) + ["\n", "\r\n", "\r"].randomElement(using: &random)!.utf8 }
        var (check, rest) = (LogCheck(), text[...])
        var log: [UInt8] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...60, using: &random))
            log += try check.take(Array(piece), isAnnounced: true)
            rest = rest.dropFirst(piece.count)
        }
        log += try check.finish()

        let whole = lines.filter { !$0.isEmpty }
        let odd = whole.filter { StormMeasurement(row: Array($0.utf8)) == nil }
        #expect(log == text)
        #expect(check.byteCount == text.count)
        #expect(check.lineCount == whole.count)
        #expect(check.oddLineCount == odd.count)
        #expect(check.oddLine.map { String(decoding: $0, as: UTF8.self) } == odd.first)
    }
}
