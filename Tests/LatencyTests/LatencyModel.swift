import TestSupport

@testable import Latency

/// Simulated round trips with known parts: a device loop that polls a serial line, an adapter, and a host. The defaults
/// are those of a pump that answers `TEMP` at 9600 baud.
struct LatencyModel {
    /// Milliseconds per byte.
    var byteTime = 10.0 / 9.6
    /// Milliseconds per turn of the device loop; 0 for a device that replies immediately.
    var loop = 109.0
    /// Milliseconds between the beginning of a reply and that of the next turn, in which the device's LED blinks.
    var blink = 50.0
    /// Milliseconds that the device needs to compute a reply.
    var work = 0.5
    /// The period of the adapter's timer in milliseconds; 0 for none.
    var adapter = 0.0
    /// The maximum delay in milliseconds of the host's sending and waking up.
    var hostJitter = 0.3
    var questionLength = 5
    var replyLength = 31

    /// The true parts of a round trip, in milliseconds.
    struct Truth {
        var write = 0.0
        var wire = 0.0
        var firmware = 0.0
        var delivery = 0.0
    }

    /// Generates `count` round trips with random pauses between them, and their true parts.
    func make(_ count: Int, seed: UInt64, interval: Duration = .milliseconds(150)) -> ([LatencySample], [Truth]) {
        var random = SplitMix64(seed: seed)
        let pauses = QuestionPauses.make(count: count, interval: interval, using: &random)
        var (now, turn): (Double, Double) = (1000, 0)
        var (samples, truths): ([LatencySample], [Truth]) = ([], [])
        for pause in pauses {
            // A measurement waits 60 ms after a reply, and then the pause.
            let sent = now + 60 + pause.milliseconds
            let write = Double.random(in: 0...hostJitter, using: &random)
            let arrived = sent + write + Double(questionLength) * byteTime
            // Wait for the first turn that ends after the query's arrival.
            let wait = loop > 0 ? loop - fmodulo(arrived - turn, loop) : 0
            let begin = arrived + wait + work
            turn = begin + blink
            let arrivals = chunks(from: begin, &random)
            let last = arrivals.last?.time.milliseconds ?? begin
            samples.append(
                LatencySample(
                    number: samples.count, sent: .milliseconds(sent), taken: .milliseconds(sent + write),
                    questionLength: questionLength,
                    arrivals: arrivals))
            let end = begin + Double(replyLength) * byteTime
            truths.append(
                Truth(
                    write: write, wire: Double(questionLength + replyLength) * byteTime, firmware: wait + work,
                    delivery: last - end))
            now = last
        }
        return (samples, truths)
    }

    /// The pieces delivered to the host: single bytes, or the bytes that the adapter has collected at each step of its
    /// timer.
    private func chunks(from begin: Double, _ random: inout SplitMix64) -> [LatencySample.Arrival] {
        var chunks: [(time: Double, count: Int)] = []
        let phase = Double.random(in: 0...max(adapter, 0.001), using: &random)
        for index in 1...replyLength {
            let time = begin + Double(index) * byteTime
            let handed = adapter > 0 ? (((time - phase) / adapter).rounded(.up)) * adapter + phase : time
            if let last = chunks.last, handed - last.time < 0.01 {
                chunks[chunks.count - 1].count += 1
            } else {
                chunks.append((handed, 1))
            }
        }
        return chunks.map {
            LatencySample.Arrival(.milliseconds($0.time + .random(in: 0...hostJitter, using: &random)), $0.count)
        }
    }

    private func fmodulo(_ value: Double, _ period: Double) -> Double {
        value - (value / period).rounded(.down) * period
    }
}

/// Simulated round trips over BLE, with packets at connection events only.
struct RadioModel {
    /// Milliseconds between two connection events; 0 if packets come at any time.
    var interval = 15.0
    /// Milliseconds per turn of the device loop; 0 for a device that replies immediately.
    var loop = 109.0
    /// The number of packets of a reply.
    var packets = 2
    /// The maximum delay in milliseconds of the host's waking up.
    var hostJitter = 0.4
    /// The true part of a round trip that a report must find, in milliseconds.

    struct Truth {
        /// The time from sending to the connection event that carried the query.
        var way = 0.0
    }

    /// Generates `count` round trips with random pauses between them, and their true parts.
    func make(_ count: Int, seed: UInt64) -> ([LatencySample], [Truth]) {
        var random = SplitMix64(seed: seed)
        let pauses = QuestionPauses.make(count: count, interval: .milliseconds(150), using: &random)
        var (now, turn): (Double, Double) = (500, 0)
        var (samples, truths): ([LatencySample], [Truth]) = ([], [])
        let anchor = Double.random(in: 0...20, using: &random)
        func event(after time: Double) -> Double {
            interval > 0 ? ((time - anchor) / interval).rounded(.up) * interval + anchor : time
        }
        for pause in pauses {
            // 60 ms as in ``LatencyModel``. Sending takes 0.1 ms.
            let sent = now + 60 + pause.milliseconds
            let there = event(after: sent + 0.1)
            let begin =
                loop > 0 ? there + loop - (there - turn - ((there - turn) / loop).rounded(.down) * loop) : there
            // The pump blinks for 50 ms before its next turn.
            turn = begin + 50
            var arrivals: [LatencySample.Arrival] = []
            for packet in 1...packets {
                // Before each packet, 20 bytes at 9600 baud reach the module.
                let time = event(after: begin + Double(packet) * 20.8) + .random(in: 0...hostJitter, using: &random)
                arrivals.append(LatencySample.Arrival(.milliseconds(time), packet < packets ? 20 : 11))
            }
            now = arrivals[packets - 1].time.milliseconds
            samples.append(
                LatencySample(
                    number: samples.count, sent: .milliseconds(sent), taken: .milliseconds(sent + 0.1),
                    questionLength: 5, arrivals: arrivals))
            truths.append(Truth(way: there - sent - 0.1))
        }
        return (samples, truths)
    }
}

extension LatencyReport {
    /// The part with exactly these causes; nil if there is none.
    func part(_ causes: LatencyPart.Cause...) -> LatencyPart? { parts.first { $0.causes == Set(causes) } }

    var foundLoop: LoopEstimate? { if case .loop(let loop) = loop { loop } else { nil } }
}

extension [Double] {
    var mean: Double { reduce(0, +) / Double(count) }
}

extension LatencyRecord {
    init(_ samples: [LatencySample], wake: Duration = .microseconds(100)) {
        self.init()
        self.samples = samples
        wakeDelays = samples.map { _ in wake }
    }
}
