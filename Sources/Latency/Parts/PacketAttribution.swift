internal import Glibc

/// Attributes round trips over BLE, whose packets are sent only at connection events.
///
/// If the packets show the interval between events, they also show the times of events. A query waits for the next
/// event, so this wait is known for each query. The later parts can't be separated, because the answer waits for an
/// event too.
struct PacketAttribution {
    private(set) var sheet = PartSheet()
    private(set) var loop = LoopEstimate.Finding.tooFew
    private(set) var remarks: [LatencyRemark] = []
    /// The time between two connection events, in milliseconds; nil if it does not show.
    let interval: Double?

    private let times: [SampleTimes]

    /// - Parameter hasModuleLine: Whether a module passes the bytes on over a serial line of its own.
    init(_ samples: [LatencySample], _ carrier: LatencyCarrier, wake: TimeSummary?, hasModuleLine: Bool) {
        times = samples.map(SampleTimes.init)
        interval = ConnectionInterval.find(times.map(\.arrivals))
        // If the device holds values, such as the LED board, sending a query returns only after the value was read.
        let isAnswered = samples.count { ($0.arrivals.first?.time ?? $0.taken) <= $0.taken } * 2 > samples.count
        if interval == nil { remarks.append(.intervalUnknown) }
        sheet.add(
            isAnswered ? [.host, .carrier, .firmware] : carrier.confirmsWrites ? [.host, .carrier] : [.host],
            times.map(\.write))
        attributeWaits(questionIsDelivered: carrier.confirmsWrites || isAnswered)
        let behind: Set<LatencyPart.Cause> = hasModuleLine ? [.wire, .carrier] : [.carrier, .firmware]
        sheet.add(behind, times.map { $0.last - $0.first })
        // An answer waits for the next connection event, so it is late by up to the interval, which is twice the blur.
        // If the interval is unknown, 2 ms are assumed.
        loop = LoopEstimate.find(
            waits: times.map { $0.first - $0.taken },
            answers: times.map { LoopEstimate.Answer(number: $0.number, time: $0.first) }, blur: (interval ?? 2) / 2,
            noise: wake?.percentile99 ?? 0)
    }

    /// Attributes the times from sending to the first packet.
    private mutating func attributeWaits(questionIsDelivered: Bool) {
        let waits = times.map { $0.first - $0.taken }
        guard let interval, !questionIsDelivered else { return sheet.add([.carrier, .firmware], waits) }
        let ways = waits.map { fmod($0, interval) }
        sheet.add([.carrier], ways)
        sheet.add([.carrier, .firmware], zip(waits, ways).map { $0 - $1 })
    }
}
