import LineProtocol
import TestSupport
import Testing

@Suite("The line framer")
struct LineFramerTests {
    @Test(
        "A line ends at \\n, \\r or \\r\\n",
        arguments: [
            ("OK\n", [FramedLine("OK")]),
            ("OK\r\n", [FramedLine("OK")]),
            ("OK\r", [FramedLine("OK", .carriageReturn)]),
            ("OK\rPUMP:ON\r", [FramedLine("OK", .carriageReturn), FramedLine("PUMP:ON", .carriageReturn)]),
            ("OK\r\nPUMP:ON\n", [FramedLine("OK"), FramedLine("PUMP:ON")]),
            ("OK\n\rPUMP:ON\n", [FramedLine("OK"), FramedLine("", .carriageReturn), FramedLine("PUMP:ON")]),
        ])
    func endsLines(text: String, lines: [FramedLine]) {
        var framer = LineFramer(limit: 64)
        #expect(framer.lines(from: Array(text.utf8)) == lines)
        #expect(framer.pendingByteCount == 0)
    }

    @Test(
        "Empty lines are delivered",
        arguments: [
            ("\n", [FramedLine("")]),
            ("\r\n", [FramedLine("")]),
            ("\n\n", [FramedLine(""), FramedLine("")]),
            ("\r\r", [FramedLine("", .carriageReturn), FramedLine("", .carriageReturn)]),
            ("\r\n\n", [FramedLine(""), FramedLine("")]),
            ("\r\r\n", [FramedLine("", .carriageReturn), FramedLine("")]),
            ("A\n\nB\n", [FramedLine("A"), FramedLine(""), FramedLine("B")]),
        ])
    func handsOutEmptyLines(text: String, lines: [FramedLine]) {
        var framer = LineFramer(limit: 64)
        #expect(framer.lines(from: Array(text.utf8)) == lines)
    }

    @Test("A \\r and a \\n at the start of the next chunk are one line end")
    func joinsLineEndAcrossChunks() {
        var framer = LineFramer(limit: 64)
        #expect(framer.lines(from: Array("OK\r".utf8)) == [FramedLine("OK", .carriageReturn)])
        #expect(framer.lines(from: []) == [])
        #expect(framer.lines(from: Array("\n".utf8)) == [])
        #expect(framer.lineEndByteCount == 2)
        #expect(framer.lines(from: Array("\nA\n".utf8)) == [FramedLine(""), FramedLine("A")])
    }

    @Test("An unfinished line is kept")
    func keepsUnfinishedLine() {
        var framer = LineFramer(limit: 64)
        #expect(framer.lines(from: Array("OK\r\nPUM".utf8)) == [FramedLine("OK")])
        #expect(framer.pending == Array("PUM".utf8))
        #expect(framer.pendingByteCount == 3)
        #expect(framer.lines(from: Array("P:ON\r\n".utf8)) == [FramedLine("PUMP:ON")])
        #expect(framer.pending == [])
    }

    @Test("Lines joined in one chunk are separated")
    func partsJoinedLines() {
        var framer = LineFramer(limit: 64)
        let lines = framer.lines(from: Array("OK\r\nPUMP:ON\r\nMANUAL:OFF\r\nTEMP:".utf8))
        #expect(lines == [FramedLine("OK"), FramedLine("PUMP:ON"), FramedLine("MANUAL:OFF")])
        #expect(framer.pending == Array("TEMP:".utf8))
    }

    /// The framer searches blocks of 16 bytes, so the arguments are around multiples of 16.
    @Test("Every byte other than a line end is kept", arguments: [1, 15, 16, 17, 31, 32, 33])
    func keepsEveryByte(padding: Int) {
        let bytes = [UInt8](repeating: 0, count: padding) + (0...255).filter { $0 != 0x0A && $0 != 0x0D }
        var framer = LineFramer(limit: 1024)
        #expect(framer.lines(from: bytes + [0x0A]) == [FramedLine(bytes)])
    }

    @Test("A line end is found anywhere in a chunk", arguments: [UInt8(0x0A), 0x0D])
    func findsLineEndAnywhere(lineEnd: UInt8) {
        let ending: LineEnding = lineEnd == 0x0A ? .lineFeed : .carriageReturn
        for before in 0...50 {
            for behind in 0...50 {
                var framer = LineFramer(limit: 64)
                let line = [UInt8](repeating: 0x8A, count: before)
                let rest = [UInt8](repeating: 0x8D, count: behind)
                #expect(framer.lines(from: line + [lineEnd] + rest) == [FramedLine(line, ending)])
                #expect(framer.pending == rest)
            }
        }
    }
}

@Suite("The length limit of the line framer")
struct LineFramerLimitTests {
    @Test(
        "A line longer than the limit is delivered in pieces, all but the last marked as cut",
        arguments: [
            ("ABCDE\n", [FramedLine("ABCD", .cut), FramedLine("E")]),
            ("ABCDEFGH\n", [FramedLine("ABCD", .cut), FramedLine("EFGH")]),
            ("ABCDEFGHI\r\n", [FramedLine("ABCD", .cut), FramedLine("EFGH", .cut), FramedLine("I")]),
            ("ABCDE\r\r\n", [FramedLine("ABCD", .cut), FramedLine("E", .carriageReturn), FramedLine("")]),
        ])
    func cutsLongLines(text: String, lines: [FramedLine]) {
        var framer = LineFramer(limit: 4)
        #expect(framer.lines(from: Array(text.utf8)) == lines)
        #expect(framer.pending == [])
    }

    @Test("A line of exactly the limit is delivered whole", arguments: ["\n", "\r\n"], 0...4)
    func keepsLineOfTheLimitWhole(lineEnd: String, split: Int) {
        var framer = LineFramer(limit: 4)
        let bytes = Array("ABCD\(lineEnd)\(lineEnd)".utf8)
        let lines = framer.lines(from: Array(bytes[..<split])) + framer.lines(from: Array(bytes[split...]))
        #expect(lines == [FramedLine("ABCD"), FramedLine("")])
    }

    @Test("A piece as long as the limit is held until the next byte shows whether the line ends")
    func waitsWithFullPiece() {
        var framer = LineFramer(limit: 4)
        #expect(framer.lines(from: Array("ABCD".utf8)) == [])
        #expect(framer.pending == Array("ABCD".utf8))
        #expect(framer.lines(from: Array("E".utf8)) == [FramedLine("ABCD", .cut)])
        #expect(framer.lines(from: Array("\n".utf8)) == [FramedLine("E")])
    }

    /// A framer that searches the whole chunk again for each piece takes minutes. The time limit catches only such a
    /// framer; it is not a measurement.
    @Test("A chunk without a line end takes time in proportion to its length", .timeLimit(.minutes(5)))
    func takesProportionalTime() {
        var framer = LineFramer(limit: 16)
        var pieceCount = 0
        framer.append([UInt8](repeating: 0, count: 1 << 21).span) { _, _ in pieceCount += 1 }
        #expect(pieceCount == (1 << 17) - 1)
        #expect(framer.pendingByteCount == 16)
    }

    @Test("The limit may be the largest integer")
    func takesAnyLimit() {
        var framer = LineFramer(limit: .max)
        let line = [UInt8](repeating: 0x41, count: 10_000)
        #expect(framer.lines(from: line + [0x0D, 0x0A]) == [FramedLine(line)])
    }

    @Test("The framer never holds more bytes than the limit", arguments: [1, 2, 63, 1024])
    func holdsNoMoreThanTheLimit(limit: Int) {
        var framer = LineFramer(limit: limit)
        var longest = 0
        for _ in 0..<100 {
            for line in framer.lines(from: [UInt8](repeating: 0xFF, count: 100)) {
                longest = max(longest, line.bytes.count)
            }
            longest = max(longest, framer.pendingByteCount)
        }
        #expect(longest == limit)
    }
}

@Suite("The line framer with chunked input")
struct LineFramerChunkingTests {
    /// All three line ends, empty lines, a line longer than ``limit``, one exactly as long, NUL, invalid UTF-8, and a
    /// last line without an end.
    static let sample =
        Array("OK\r\nPUMP:ON\r\n\r\n\n\r\rTEMP: 9.5\rSPEED:180\n0123456789ABCDEF\r\n0123456789ABCDEFGHIJ\n".utf8)
        + [0x00, 0xFF, 0x0D, 0x0A, 0xC3, 0x28, 0x0D] + Array("MANUAL:O".utf8)
    static let limit = 16

    @Test("Every split into two chunks gives the same lines")
    func splitsInTwo() {
        for split in 0...Self.sample.count { check(Self.sample, cuts: [split], limit: Self.limit) }
    }

    @Test("Every split into three chunks gives the same lines")
    func splitsInThree() {
        for first in 0...Self.sample.count {
            for second in first...Self.sample.count { check(Self.sample, cuts: [first, second], limit: Self.limit) }
        }
    }

    @Test("Byte by byte and in 20-byte chunks the lines are the same", arguments: [1, 2, 20])
    func splitsEvenly(size: Int) {
        check(Self.sample, cuts: Array(stride(from: 0, to: Self.sample.count, by: size)), limit: Self.limit)
    }

    @Test("Every short input in every chunking agrees with the reference", arguments: 1...3)
    func agreesOnEveryShortInput(limit: Int) {
        var inputs: [[UInt8]] = [[]]
        for _ in 0..<5 {
            inputs = inputs.flatMap { input in [0x0A, 0x0D, 0x41].map { input + [$0] } }
            for input in inputs { checkEveryChunking(input, limit: limit) }
        }
    }

    @Test("Random input in every chunking agrees with the reference", arguments: UInt64(1)...40)
    func agreesOnRandomInput(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet: [UInt8] = [0x0A, 0x0A, 0x0D, 0x0D, 0x41, 0x42, 0x43, 0x00, 0xFF]
        let input = (0..<9).map { _ in alphabet[random.number(below: alphabet.count)] }
        checkEveryChunking(input, limit: 1 + random.number(below: 5))
    }

    private func checkEveryChunking(_ input: [UInt8], limit: Int) {
        for chunking in 0..<(1 << (input.count - 1)) {
            check(input, cuts: (1..<input.count).filter { chunking >> ($0 - 1) & 1 == 1 }, limit: limit)
        }
    }

    /// Feeds `input`, cut at the offsets `cuts`, to a framer. Compares its lines with ``ReferenceFramer``, and its byte
    /// counts with the bytes that it returned and holds.
    private func check(_ input: [UInt8], cuts: [Int], limit: Int) {
        var framer = LineFramer(limit: limit)
        var lines: [FramedLine] = []
        var handedOut = 0
        for (start, end) in zip([0] + cuts, cuts + [input.count]) {
            let completed = framer.lines(from: Array(input[start..<end]))
            handedOut += completed.reduce(0) { $0 + $1.bytes.count }
            lines += completed
            let isAccounted =
                framer.receivedByteCount == end
                && framer.receivedByteCount == handedOut + framer.lineEndByteCount + framer.pendingByteCount
                && framer.pendingByteCount == framer.pending.count
            if !isAccounted { Issue.record("bytes unaccounted for: \(input), cut at \(cuts), limit \(limit)") }
        }
        let expected = ReferenceFramer(input: input, limit: limit, cuts: Set(cuts))
        if lines != expected.lines || framer.pending != expected.pending {
            Issue.record("\(input), cut at \(cuts), limit \(limit): \(lines), not \(expected.lines)")
        }
    }
}
