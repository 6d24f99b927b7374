import Testing

@testable import Latency

@Suite("Attribution of synthetic round trips over BLE")
struct PacketAttributionTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8]

    private func report(_ samples: [LatencySample], confirms: Bool = false) throws -> LatencyReport {
        try #require(
            LatencyReport(LatencyRecord(samples), .pump, over: LatencyCarrier(.radio, confirmsWrites: confirms)))
    }

    @Test("The connection interval is recovered", arguments: seeds, [7.5, 15, 30, 48.75])
    func interval(seed: UInt64, interval: Double) throws {
        var model = RadioModel()
        model.interval = interval
        let report = try report(model.make(36, seed: seed).0)
        #expect(report.connectionInterval == interval)
        #expect(!report.remarks.contains(.intervalUnknown))
    }

    @Test("The wait for a connection event is recovered", arguments: seeds)
    func wait(seed: UInt64) throws {
        let (samples, truths) = RadioModel().make(60, seed: seed)
        let carrier = try #require(try report(samples).part(.carrier))
        // The mean is inaccurate by the host's jitter, which also moves about one wait in forty to the next event.
        #expect(abs(carrier.times.mean - truths.map(\.way).mean) < 1)
        #expect(carrier.times.maximum <= 15)
    }

    @Test("Packets at random times reveal no connection interval", arguments: seeds)
    func none(seed: UInt64) throws {
        var model = RadioModel()
        model.interval = 0
        let report = try report(model.make(40, seed: seed).0)
        #expect(report.connectionInterval == nil && report.part(.carrier) == nil)
        #expect(report.remarks.contains(.intervalUnknown))
        #expect(report.part(.carrier, .firmware) != nil)
    }

    @Test("The loop period is recovered through connection events", arguments: seeds)
    func loop(seed: UInt64) throws {
        let loop = try #require(try report(RadioModel().make(40, seed: seed).0).foundLoop)
        #expect(abs(loop.period - 109) < loop.tolerance && loop.tolerance < 10, "\(loop)")
    }

    @Test("With confirmed writes the wait for a connection event counts as sending")
    func confirmed() throws {
        let report = try report(RadioModel().make(40, seed: 1).0, confirms: true)
        #expect(report.part(.carrier) == nil)
        #expect(report.part(.host, .carrier) != nil)
    }

    @Test("If sending returns only with the reply, the round trip is one part")
    func answered() throws {
        let samples = RadioModel().make(40, seed: 1).0.map { sample in
            var sample = sample
            sample.taken = (sample.arrivals.last?.time ?? .zero) + .milliseconds(1)
            sample.arrivals = [sample.arrivals[sample.arrivals.count - 1]]
            return sample
        }
        let report = try report(samples, confirms: true)
        #expect(report.part(.host, .carrier, .firmware)?.share ?? 0 > 0.99)
    }
}
