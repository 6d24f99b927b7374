import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Latency

@Suite("Late replies")
struct LateAnswerTests {
    /// The usual delay of a reply. A query times out after 1 s.
    private static let usualTime = Duration.milliseconds(80)

    /// Measures a device that handles each query independently, so that a late reply can arrive after the next query.
    ///
    /// - Parameter late: The delays of some replies, by the number of their query, counted from 0.
    private func measure(pauses: [Duration], late: [Int: Duration]) throws -> LatencyRecord {
        let world = LatencyWorld(PumpFirmware())
        world.onWrite = { [unowned world] _ in
            let delay = late[world.written.count - 1] ?? Self.usualTime
            world.loop.at(world.loop.now + delay) { [unowned world] in
                world.link.arrive(Array("TEMP:{Water:12.0C,Skin:34.5C}\r\n".utf8))
            }
            return nil
        }
        let outcome = world.measure(.pump, pauses: pauses)
        return try #require(outcome.record, "\(String(describing: outcome.error)) \(outcome.ending)")
    }

    private func roundTrips(_ record: LatencyRecord) -> [Duration] {
        record.samples.map { $0.arrivals[$0.arrivals.count - 1].time - $0.sent }
    }

    @Test("After a timeout the next query waits until a late reply must have arrived", arguments: [1, 3])
    func behindQuestion(number: Int) throws {
        // Without a wait the next query would be 20 ms old when the late reply arrives.
        let pauses = [Duration](repeating: .milliseconds(100), count: 5)
        let record = try measure(pauses: pauses, late: [number: .milliseconds(1120)])
        #expect(record.unansweredCount == 1 && record.disturbedCount == 0)
        #expect(roundTrips(record) == [Duration](repeating: Self.usualTime, count: 4))
    }

    @Test("After a late reply during warm-up the first measured query waits as well")
    func beforeFirst() throws {
        // The first reply arrives 10 ms after the second query, whose own reply would arrive 10 ms after the third.
        let record = try measure(pauses: [.zero, .zero, .zero], late: [0: .milliseconds(1010)])
        #expect(record.unansweredCount == 0 && record.disturbedCount == 0)
        #expect(roundTrips(record) == [Duration](repeating: Self.usualTime, count: 3))
    }
}
