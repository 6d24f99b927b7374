import Testing

@testable import PageServer

@Suite("Ring of events")
struct EventRingTests {
    private func bytes(_ number: Int) -> [UInt8] { Array("\(number) ".utf8) }

    private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test("A reader goes on behind its last number")
    func goesOn() {
        var ring = EventRing(startingAt: 100)
        for second in 0..<5 { ring.append(at: .seconds(second), bytes) }
        #expect(ring.last == 104)
        #expect(text(ring.events(after: 99)) == "100 101 102 103 104 ")
        #expect(text(ring.events(after: 102)) == "103 104 ")
        #expect(text(ring.events(after: 104)) == "")
        #expect(ring.events(after: 105) == nil)
        #expect(ring.events(after: 98) == nil)
        #expect(ring.time(of: 102) == .seconds(2))
        #expect(ring.time(of: 105) == nil)
        #expect(ring.time(of: 99) == nil)
    }

    @Test("Events are kept for a minute, and the last one for ever")
    func minute() {
        var ring = EventRing(startingAt: 1)
        for second in [0, 30, 60, 61] { ring.append(at: .seconds(second), bytes) }
        #expect(ring.events(after: 0) == nil)
        #expect(text(ring.events(after: 1)) == "2 3 4 ")
        #expect(ring.time(of: 1) == nil)
        ring.append(at: .seconds(1000), bytes)
        #expect(text(ring.events(after: 4)) == "5 ")
        #expect(ring.events(after: 3) == nil)
        #expect(ring.time(of: 5) == .seconds(1000))
    }

    @Test("At most 10,000 events are kept")
    func capacity() {
        var ring = EventRing(startingAt: 1)
        for _ in 0..<25_000 { ring.append(at: .zero, bytes) }
        #expect(ring.last == 25_000)
        #expect(ring.events(after: 14_999) == nil)
        #expect(ring.events(after: 15_000)?.count == 60_000)
        #expect(text(ring.events(after: 24_998)) == "24999 25000 ")
    }
}
