/// Attributes round trips over a stream of bytes: a serial line, whatever carries it to the host.
///
/// The answer began no later than the time of each chunk less the time for all bytes up to the end of the chunk. If
/// several chunks came, the least of these times is the start of the answer, to within a byte's time. The delivery is
/// the time that remains after the last byte.
struct LineAttribution {
    private(set) var sheet = PartSheet()
    private(set) var loop = LoopEstimate.Finding.tooFew
    private(set) var remarks: [LatencyRemark] = []
    /// The time for one byte that was used, in milliseconds; nil if the rate of the line is unknown.
    let byteTime: Double?
    /// The interval at which an adapter delivers bytes: ``LineRate/step``.
    let step: Double?

    private let times: [SampleTimes]
    private let carrier: LatencyCarrier
    /// The delay with which the host wakes up, in milliseconds: the median.
    private let wake: Double
    /// The same at the 99th percentile.
    private let noise: Double
    /// The evidence for the time of the wire.
    private let basis: LatencyPart.Basis

    init(_ samples: [LatencySample], _ carrier: LatencyCarrier, wake: TimeSummary?) {
        times = samples.map(SampleTimes.init)
        (self.carrier, self.wake, noise) = (carrier, wake?.median ?? 0, wake?.percentile99 ?? 0)
        let rate = LineRate(samples)
        step = rate.step
        (byteTime, basis) = Self.byteTime(rate, times, carrier, &remarks)
        sheet.add([.host], times.map(\.write))
        if let byteTime { attribute(byteTime) } else { attributeWithoutRate() }
    }

    /// The time for one byte, and whether the answers confirm it.
    private static func byteTime(
        _ rate: LineRate, _ times: [SampleTimes], _ carrier: LatencyCarrier, _ remarks: inout [LatencyRemark]
    ) -> (Double?, LatencyPart.Basis) {
        guard carrier.kind == .port || carrier.kind == .terminal, let set = carrier.byteTime?.milliseconds else {
            if rate.byteTime == nil { remarks.append(.rateUnknown) }
            return (rate.byteTime, .measured)
        }
        if rate.agrees(with: set) == true { return (set, .measured) }
        let isFaster = times.contains { $0.roundTrip < 0.9 * set * ($0.questionLength + $0.replyLength) }
        if carrier.kind == .terminal || isFaster || (rate.byteTime ?? set) < set / 2 {
            remarks.append(.noLineRate)
            return (nil, .measured)
        }
        return (set, .computed)
    }

    // MARK: With a rate

    /// Attributes the times of answers on a line of a known rate.
    private mutating func attribute(_ byteTime: Double) {
        sheet.add([.wire], times.map { ($0.questionLength + $0.replyLength) * byteTime }, basis)
        let isPinned = Double(times.count(where: \.isPinned)) >= 0.8 * Double(times.count)
        guard isPinned else { return attributeTogether(byteTime) }
        let begins = times.map { $0.begin(byteTime: byteTime) }
        let waits = zip(times, begins).map { $1 - $0.taken - $0.questionLength * byteTime }
        sheet.add(carrier.kind == .network ? [.firmware, .carrier] : [.firmware], waits)
        deliver(zip(times, begins).map { $0.last - $1 - $0.replyLength * byteTime }, as: carrier.deliverers)
        loop = LoopEstimate.find(waits: waits, answers: answers(begins), blur: byteTime, noise: noise)
        if carrier.kind == .port { remarks.append(.wayOut) }
    }

    /// Attributes answers if more than a fifth of them came in one chunk, which does not show the start.
    private mutating func attributeTogether(_ byteTime: Double) {
        let rests = times.map { $0.roundTrip - $0.write - ($0.questionLength + $0.replyLength) * byteTime }
        deliver(rests, as: carrier.deliverers.union([.firmware]))
        loop = LoopEstimate.find(waits: rests, answers: answers(times.map(\.last)), blur: byteTime, noise: noise)
    }

    /// Attributes the times of answers if no rate of a line is known: everything after sending is one part.
    private mutating func attributeWithoutRate() {
        let rests = times.map { $0.roundTrip - $0.write }
        let hasLine = carrier.kind == .network || carrier.kind == .simulation
        deliver(rests, as: carrier.deliverers.union(hasLine ? [.firmware, .wire] : [.firmware]))
        // The time of the first chunk stands for the start of the answer; it is assumed to be late by 1 ms at most.
        loop = LoopEstimate.find(
            waits: times.map { $0.first - $0.taken }, answers: answers(times.map(\.first)), blur: 0.5, noise: noise)
    }

    private func answers(_ begins: [Double]) -> [LoopEstimate.Answer] {
        zip(times, begins).map { LoopEstimate.Answer(number: $0.number, time: $1) }
    }

    /// Adds times that end with the host's waking up. The host's share is known from its timers.
    private mutating func deliver(_ times: [Double], as causes: Set<LatencyPart.Cause>) {
        guard !causes.isEmpty else { return sheet.add([.host], times) }
        let wakes = times.map { min(max($0, 0), wake) }
        sheet.add([.host], wakes)
        sheet.add(causes, zip(times, wakes).map { $0 - $1 })
    }
}
