import TestSupport
import Testing

@testable import Latency

@Suite("Attribution of synthetic round trips over a line")
struct LineAttributionTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8]

    private func report(_ samples: [LatencySample], _ carrier: LatencyCarrier) throws -> LatencyReport {
        try #require(LatencyReport(LatencyRecord(samples), .pump, over: carrier))
    }

    private static func port(timer: Int? = nil) -> LatencyCarrier {
        LatencyCarrier(.port, byteTime: .seconds(10) / 9600, latencyTimer: timer.map { .milliseconds($0) })
    }

    @Test("Wire, firmware and adapter times are recovered", arguments: seeds)
    func parts(seed: UInt64) throws {
        var model = LatencyModel()
        model.adapter = 16
        let (samples, truths) = model.make(36, seed: seed)
        let report = try report(samples, Self.port(timer: 16))
        let wire = try #require(report.part(.wire))
        #expect(abs(wire.times.mean - truths[0].wire) < 0.01)
        // A report knows the start of the reply only to within one byte time and the host's jitter.
        let bound = model.byteTime + model.hostJitter
        let firmware = try #require(report.part(.firmware))
        #expect(abs(firmware.times.mean - truths.map(\.firmware).mean) < bound)
        #expect(abs(firmware.times.minimum - (truths.map(\.firmware).min() ?? 0)) < 2 * bound)
        let adapter = try #require(report.part(.adapter))
        #expect(abs(adapter.times.mean - truths.map(\.delivery).mean) < bound)
        #expect(adapter.times.maximum < 16 + bound)
        let step = try #require(report.adapterStep)
        #expect(abs(step - 16) < 0.5)
    }

    @Test("The loop period is recovered from the phase of the replies", arguments: seeds, [0.0, 16])
    func loop(seed: UInt64, adapter: Double) throws {
        var model = LatencyModel()
        model.adapter = adapter
        for period in [73.0, 109, 141] {
            model.loop = period
            let loop = try #require(try report(model.make(36, seed: seed).0, Self.port()).foundLoop)
            #expect(loop.basis == .phase)
            #expect(abs(loop.period - period) < min(1, loop.tolerance), "\(loop) for \(period)")
        }
    }

    @Test("Random waits are not taken for the phase of a loop", arguments: seeds)
    func random(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var now = 0.0
        var (waits, answers): ([Double], [LoopEstimate.Answer]) = ([], [])
        for _ in 0..<60 {
            let wait = Double.random(in: 0...109, using: &random)
            now += 200 + .random(in: 0...150, using: &random)
            waits.append(wait)
            answers.append(.init(number: answers.count, time: now + wait))
        }
        if case .loop(let loop) = LoopEstimate.find(waits: waits, answers: answers, blur: 1) {
            #expect(loop.basis == .spread)
        }
    }

    @Test("A mix of fast and slow replies is not taken for a loop")
    func twoKinds() {
        var random = SplitMix64(seed: 3)
        var (waits, answers): ([Double], [LoopEstimate.Answer]) = ([], [])
        var now = 0.0
        for index in 0..<40 {
            let wait = index % 3 == 0 ? 80.0 : 2.0
            now += 200 + .random(in: 0...150, using: &random)
            waits.append(wait + .random(in: 0...0.5, using: &random))
            answers.append(.init(number: answers.count, time: now + wait))
        }
        #expect(LoopEstimate.find(waits: waits, answers: answers, blur: 0.5) == .irregular)
    }

    @Test("A device that replies at once has no loop", arguments: seeds)
    func noLoop(seed: UInt64) throws {
        var model = LatencyModel()
        model.loop = 0
        let report = try report(model.make(40, seed: seed).0, Self.port())
        guard case .none(let range) = report.loop else {
            Issue.record("\(report.loop)")
            return
        }
        #expect(range < 2)
        #expect(try #require(report.part(.firmware)).times.maximum < 2)
    }

    @Test("Occasional delays of the host are not taken for a loop", arguments: seeds)
    func busyHost(seed: UInt64) throws {
        var model = LatencyModel()
        (model.loop, model.hostJitter) = (0, 5)
        var record = LatencyRecord(
            model.make(40, seed: seed).0.map { sample in
                var sample = sample
                sample.arrivals = [.init(sample.arrivals.last?.time ?? .zero, 31)]
                return sample
            })
        record.wakeDelays[7] = .milliseconds(5)
        let report = try #require(LatencyReport(record, .pump, over: Self.port()))
        guard case .none = report.loop else {
            Issue.record("\(report.loop)")
            return
        }
    }

    @Test("Too few replies reveal no loop")
    func tooFew() throws {
        // `LoopEstimate.fewestSamples` is 12.
        #expect(try report(LatencyModel().make(11, seed: 1).0, Self.port()).loop == .tooFew)
    }

    @Test("A reply in one chunk leaves firmware and adapter time combined", arguments: seeds)
    func together(seed: UInt64) throws {
        var model = LatencyModel()
        (model.byteTime, model.replyLength, model.questionLength) = (10.0 / 115.2, 7, 4)
        (model.loop, model.adapter) = (0, 16)
        var (samples, truths) = model.make(40, seed: seed)
        // Such a short reply almost never spans two steps of the timer, so it is made one chunk.
        for index in samples.indices {
            samples[index].arrivals = [.init(samples[index].arrivals.last?.time ?? .zero, 7)]
        }
        let carrier = LatencyCarrier(.port, byteTime: .seconds(10) / 115_200, latencyTimer: .milliseconds(16))
        let report = try report(samples, carrier)
        #expect(report.part(.firmware) == nil && report.part(.adapter) == nil)
        let both = try #require(report.part(.firmware, .adapter))
        let expected = truths.map { $0.firmware + $0.delivery }.mean
        #expect(abs(both.times.mean - expected) < 2 * model.hostJitter)
        #expect(report.part(.wire)?.basis == .computed)
    }

    @Test("An unknown line rate is measured from the replies", arguments: seeds)
    func unknownRate(seed: UInt64) throws {
        let model = LatencyModel()
        let (samples, truths) = model.make(36, seed: seed)
        let report = try report(samples, LatencyCarrier(.network))
        let time = try #require(report.byteTime)
        #expect(abs(time - model.byteTime) < 0.05)
        #expect(abs(try #require(report.part(.wire)).times.mean - truths[0].wire) < 2)
        // The time on the way to the server can't be separated from the firmware's.
        #expect(report.part(.firmware) == nil)
        #expect(report.part(.firmware, .carrier) != nil)
    }

    @Test(
        "Replies faster than the port's rate have no wire time", arguments: [LatencyCarrier.Kind.port, .terminal])
    func noWire(kind: LatencyCarrier.Kind) throws {
        var model = LatencyModel()
        (model.byteTime, model.loop) = (0.001, 0)
        let report = try report(model.make(40, seed: 5).0, LatencyCarrier(kind, byteTime: .seconds(10) / 9600))
        #expect(report.byteTime == nil && report.part(.wire) == nil)
        #expect(report.remarks.contains(.noLineRate))
    }

    @Test("The parts add up to the round trip", arguments: seeds)
    func sum(seed: UInt64) throws {
        for adapter in [0.0, 16] {
            var model = LatencyModel()
            model.adapter = adapter
            for carrier in [Self.port(), LatencyCarrier(.network), LatencyCarrier(.simulation), LatencyCarrier(.radio)]
            {
                let report = try report(model.make(30, seed: seed).0, carrier)
                let sum = report.parts.map(\.times.mean).reduce(0, +)
                #expect(abs(sum - report.roundTrip.mean) < 0.001)
                #expect(abs(report.parts.map(\.share).reduce(0, +) - 1) < 0.001)
            }
        }
    }

    @Test("A report warns if the pauses are too short for the loop")
    func undersampled() throws {
        let samples = LatencyModel().make(36, seed: 2).0
        let carrier = Self.port()
        let short = LatencyReport(LatencyRecord(samples), .pump, over: carrier, interval: .milliseconds(40))
        #expect(short?.remarks.contains(.loopUndersampled) == true)
        let long = LatencyReport(LatencyRecord(samples), .pump, over: carrier, interval: .milliseconds(150))
        #expect(long?.remarks.contains(.loopUndersampled) == false)
    }
}
