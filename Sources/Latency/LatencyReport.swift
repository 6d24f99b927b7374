/// Where the time of round trips went, as far as what was measured tells.
public struct LatencyReport: Sendable {
    public let roundTrip: TimeSummary
    /// The parts, which add up to the round trip in each sample; those that can't be told apart are one.
    public let parts: [LatencyPart]
    /// The firmware's main loop.
    public let loop: LoopEstimate.Finding
    /// How long a byte takes on the line, in milliseconds; nil where that is not known.
    public let byteTime: Double?
    /// The steps at which an adapter hands on bytes, in milliseconds; nil where there are none to see.
    public let adapterStep: Double?
    /// Between two connection events of BLE, in milliseconds; nil where it does not show.
    public let connectionInterval: Double?
    /// How late the host woke from its own timers; nil where it slept never.
    public let wakeDelay: TimeSummary?
    public let histogram: TimeHistogram
    public let remarks: [LatencyRemark]

    /// - Parameters:
    ///   - record: What was measured; at least one sample.
    ///   - interval: The average pause before a question; nil where it is not known.
    /// - Returns: nil where there is no sample.
    public init?(
        _ record: LatencyRecord, _ question: LatencyQuestion, over carrier: LatencyCarrier, interval: Duration? = nil
    ) {
        let trips = record.samples.map { SampleTimes($0).roundTrip }
        guard let summary = TimeSummary(trips) else { return nil }
        (roundTrip, histogram) = (summary, TimeHistogram(trips))
        wakeDelay = TimeSummary(record.wakeDelays.map(\.milliseconds))
        let total = trips.reduce(0, +)
        var remarks: [LatencyRemark]
        if carrier.kind == .radio {
            let found = PacketAttribution(
                record.samples, carrier, wake: wakeDelay, hasModuleLine: question.hasModuleLine)
            (parts, loop, remarks) = (found.sheet.parts(of: total), found.loop, found.remarks)
            (byteTime, adapterStep, connectionInterval) = (nil, nil, found.interval)
        } else {
            let found = LineAttribution(record.samples, carrier, wake: wakeDelay)
            (parts, loop, remarks) = (found.sheet.parts(of: total), found.loop, found.remarks)
            (byteTime, adapterStep, connectionInterval) = (found.byteTime, found.step, nil)
        }
        switch loop {
        case .loop(let loop):
            if let interval, interval.milliseconds * 1.5 < loop.period { remarks.append(.loopUndersampled) }
        case .irregular: remarks.append(.irregularWaits)
        case .none, .tooFew: break
        }
        self.remarks = remarks
    }
}
