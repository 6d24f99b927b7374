/// The parts of round trips, as far as the measured times show them.
public struct LatencyReport: Sendable {
    /// Statistics of the round trips.
    public let roundTrip: TimeSummary
    /// The parts, which add up to the round trip in each sample. Parts that can't be separated are merged.
    public let parts: [LatencyPart]
    /// The firmware's main loop.
    public let loop: LoopEstimate.Finding
    /// The time for one byte on the line, in milliseconds; nil if it is unknown, and over BLE.
    public let byteTime: Double?
    /// The interval at which an adapter delivers bytes, in milliseconds; nil if none shows, and over BLE.
    public let adapterStep: Double?
    /// The time between two BLE connection events, in milliseconds; nil if it does not show, or without BLE.
    public let connectionInterval: Double?
    /// The delay with which the host woke from its own timers; nil if it never slept.
    public let wakeDelay: TimeSummary?
    /// The distribution of the round trips.
    public let histogram: TimeHistogram
    /// The limits of this attribution.
    public let remarks: [LatencyRemark]

    /// Attributes the round trips of a record. Returns nil if the record has no samples.
    ///
    /// - Parameters:
    ///   - record: The result of the measurement.
    ///   - question: The query that was measured.
    ///   - carrier: The path between the host and the device.
    ///   - interval: The average pause before a query; nil if it is unknown.
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
