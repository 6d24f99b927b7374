import LineProtocol
import TestSupport
import Testing

@Suite("Corrupted traffic")
struct FuzzTests {
    /// The least number of bytes of traffic per seed.
    static let byteCount = 200_000

    @Test("Every byte of corrupted traffic is accounted for", arguments: Array(Seeds(10, soak: 500)))
    func isAccountedFor(seed: UInt64) throws {
        try #require(!PumpLines.all.isEmpty)
        // Every fifth seed has a limit at which status lines are cut.
        let limit = seed.isMultiple(of: 5) ? 64 : PumpFamily.lineLimit
        var mutator = TrafficMutator(seed: seed, corpus: PumpLines.all.map { Array($0.utf8) })
        var framer = LineFramer(limit: limit)
        var input: [UInt8] = []
        var cuts: Set<Int> = []
        var lines: [FramedLine] = []
        var handedOut = 0
        var kinds: Set<String> = []

        var traffic: [UInt8] = []
        while input.count < Self.byteCount {
            let size = mutator.chunkSize()
            while traffic.count < size { traffic += mutator.burst() }
            let chunk = Array(traffic[..<size])
            traffic.removeSubrange(..<size)
            cuts.insert(input.count)
            input += chunk
            for line in framer.lines(from: chunk) {
                handedOut += line.bytes.count
                lines.append(line)
                let decoded = DecodedLine(line)
                kinds.insert(decoded.kind)
                if !decoded.isFounded { Issue.record("seed \(seed): \(decoded.message) from \(line)") }
            }
            if framer.receivedByteCount != input.count
                || framer.receivedByteCount != handedOut + framer.lineEndByteCount + framer.pendingByteCount
            {
                Issue.record("seed \(seed): bytes unaccounted for at \(input.count)")
                return
            }
        }

        let withoutLineEnds = input.filter { $0 != 0x0A && $0 != 0x0D }
        #expect(lines.flatMap(\.bytes) + framer.pending == withoutLineEnds, "seed \(seed)")
        let expected = ReferenceFramer(input: input, limit: limit, cuts: cuts)
        #expect(lines.elementsEqual(expected.lines), "seed \(seed)")
        #expect(framer.pending == expected.pending, "seed \(seed)")
        // All nine kinds of messages must occur: traffic in which no protocol line survives would prove little.
        #expect(kinds.count == 9, "seed \(seed): only \(kinds.sorted())")
    }
}
