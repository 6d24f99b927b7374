import Testing

@testable import PageServer

@Suite("Ring of events")
struct EventRingTests {
    private func bytes(_ number: Int) -> [UInt8] { Array("\(number) ".utf8) }

    private func text(_ events: (bytes: [UInt8], last: Int)?) -> String? {
        events.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test("A reader continues after its last number")
    func goesOn() {
        var ring = EventRing(startingAt: 100)
        for second in 0..<5 { ring.append(at: .seconds(second), certainUntil: .seconds(second), bytes) }
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
        for second in [0, 30, 60, 61] { ring.append(at: .seconds(second), certainUntil: .seconds(second), bytes) }
        #expect(ring.events(after: 0) == nil)
        #expect(text(ring.events(after: 1)) == "2 3 4 ")
        #expect(ring.time(of: 1) == nil)
        ring.append(at: .seconds(1000), certainUntil: .seconds(1000), bytes)
        #expect(text(ring.events(after: 4)) == "5 ")
        #expect(ring.events(after: 3) == nil)
        #expect(ring.time(of: 5) == .seconds(1000))
    }

    @Test("At most 10,000 events are kept")
    func capacity() {
        var ring = EventRing(startingAt: 1)
        for _ in 0..<25_000 { ring.append(at: .zero, certainUntil: .zero, bytes) }
        #expect(ring.last == 25_000)
        #expect(ring.events(after: 14_999) == nil)
        #expect(ring.events(after: 15_000)?.bytes.count == 60_000)
        let part = ring.events(after: 15_000, upTo: 10)
        #expect(text(part) == "15001 15002 ")
        #expect(part?.last == 15_002)
        #expect(text(ring.events(after: 24_998)) == "24999 25000 ")
    }

    @Test("The bytes of the events are limited")
    func bytes() {
        var ring = EventRing(startingAt: 1)
        let event = [UInt8](repeating: 0x20, count: EventRing.byteLimit / 4)
        for _ in 0..<6 { ring.append(at: .zero, certainUntil: .zero) { _ in event } }
        #expect(ring.events(after: 1) == nil)
        #expect(ring.events(after: 2, upTo: .max)?.bytes.count == EventRing.byteLimit)
    }

    @Test("The time of an event is the time up to which the ring is certain, not that of its arrival")
    func certainty() {
        var ring = EventRing(startingAt: 1)
        ring.append(at: .seconds(100), certainUntil: .seconds(90), bytes)
        #expect(ring.time(of: 1) == .seconds(90))
    }
}
