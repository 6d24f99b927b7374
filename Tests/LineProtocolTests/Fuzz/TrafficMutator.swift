import TestSupport

/// Generates traffic that resembles the pump's, with damage as by a bad serial line.
struct TrafficMutator {
    private var random: SplitMix64
    private let corpus: [[UInt8]]

    init(seed: UInt64, corpus: [[UInt8]]) {
        random = SplitMix64(seed: seed)
        self.corpus = corpus
    }

    /// Generates one to four lines of the corpus with their ends. About half of the lines are damaged.
    mutating func burst() -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0...random.number(below: 4) {
            var line = corpus[random.number(below: corpus.count)]
            while random.number(below: 2) == 0 { mutate(&line) }
            bytes += line
            bytes += lineEnd()
        }
        return bytes
    }

    /// The size of the carrier's next chunk: usually at most 20 bytes like a notification, sometimes one byte,
    /// sometimes many.
    mutating func chunkSize() -> Int {
        switch random.number(below: 8) {
        case 0: 1
        case 1: 1 + random.number(below: 4096)
        default: 1 + random.number(below: 20)
        }
    }

    /// Usually `\r\n`; sometimes another line end, or none, which joins two lines.
    private mutating func lineEnd() -> [UInt8] {
        switch random.number(below: 10) {
        case 0: [0x0A]
        case 1: [0x0D]
        case 2: [0x0D, 0x0D, 0x0A]
        case 3: [0x0A, 0x0D]
        case 4: []
        default: [0x0D, 0x0A]
        }
    }

    private mutating func mutate(_ line: inout [UInt8]) {
        let place = random.number(below: line.count + 1)
        switch random.number(below: 9) {
        case 0: if place < line.count { line[place] ^= 1 << UInt8(random.number(below: 8)) }
        case 1: line.insert(anyByte(), at: place)
        case 2: line.removeSubrange(place..<min(line.count, place + 1 + random.number(below: 8)))
        case 3: line.insert(contentsOf: line[place..<min(line.count, place + 20)], at: place)
        case 4: line.insert(contentsOf: lineEnd(), at: place)
        case 5: line.insert(contentsOf: corpus[random.number(below: corpus.count)], at: place)
        case 6: line.insert(contentsOf: [UInt8](repeating: 0, count: 1 + random.number(below: 4)), at: place)
        case 7: line.insert(contentsOf: Self.invalidText[random.number(below: Self.invalidText.count)], at: place)
        // A run of up to 2999 equal bytes, often longer than the framer's limit. It is rare, so that most traffic
        // remains short lines.
        default:
            if random.number(below: 16) == 0 {
                line.insert(contentsOf: [UInt8](repeating: anyByte(), count: random.number(below: 3000)), at: place)
            }
        }
    }

    private mutating func anyByte() -> UInt8 { UInt8(random.number(below: 256)) }

    /// A lone continuation byte, a lead byte without continuation, an overlong slash, a surrogate, a code point beyond
    /// Unicode, and a byte that UTF-8 never uses.
    private static let invalidText: [[UInt8]] = [
        [0x80], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
    ]
}
