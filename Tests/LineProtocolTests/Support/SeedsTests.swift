import Testing

@testable import TestSupport

@Suite("Seeds of generated tests")
struct SeedsTests {
    @Test("The text of SEEDS is one seed, a range of seeds, or the first seed of a soak")
    func choice() {
        #expect(Seeds.Choice("1234") == .range(1234..<1235))
        #expect(Seeds.Choice("7-9") == .range(7..<10))
        #expect(Seeds.Choice("7-7") == .range(7..<8))
        #expect(Seeds.Choice("5+") == .soak(from: 5))
        for text in ["", "+", "-", "x", "9-7", "1-2-3", "-1", "5-", "99999999999"] {
            #expect(Seeds.Choice(text) == nil)
        }
    }

    @Test("A soak uses its own number of seeds, a range all of its seeds")
    func ranges() {
        #expect(Seeds(3, soak: 100, from: .fixed).range == 0..<3)
        #expect(Seeds(3, soak: 100, from: .soak(from: 5)).range == 5..<105)
        #expect(Seeds(3, soak: 100, from: .range(7..<9)).range == 7..<9)
    }

    @Test("The pieces of a range contain every seed once")
    func pieces() {
        for count in 1...20 {
            let seeds = Seeds(1, soak: 1, from: .range(7..<7 + UInt64(count)))
            #expect(seeds.pieces(4).flatMap { Array($0) } == Array(seeds.range))
            #expect(seeds.pieces(4).count <= 4)
        }
    }
}
