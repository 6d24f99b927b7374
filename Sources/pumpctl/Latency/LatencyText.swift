import Latency
import LineProtocol
import Terminal

/// The text and the record of a latency measurement. The times of type Double are milliseconds.
struct LatencyText {
    /// The number of characters of the longest bar of the histogram.
    private static let barWidth = 40

    private let report: LatencyReport
    private let measured: LatencyRecord
    private let question: LatencyQuestion
    private let carrier: LatencyCarrier
    private let place: String

    init(
        _ report: LatencyReport, _ measured: LatencyRecord, _ question: LatencyQuestion, _ carrier: LatencyCarrier,
        place: String
    ) {
        (self.report, self.measured, self.question) = (report, measured, question)
        (self.carrier, self.place) = (carrier, place)
    }

    // MARK: Text

    var text: String {
        (counts + [""] + table + [""] + facts + [""] + histogram).joined(separator: "\n")
    }

    private var counts: [String] {
        let answers = "\(place.printable()): \(measured.samples.count.counted("answer")) to \(question.text)"
        let dropped = [
            (measured.disturbedCount, "left out, because the device sent other lines"),
            (measured.refusedCount, "refused"), (measured.unansweredCount, "not answered in time"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return [([answers] + dropped).joined(separator: "; ")]
    }

    private var table: [String] {
        var table = TextTable(["ms", "min", "median", "p99", "max", "share", ""])
        for part in report.parts {
            let note = part.basis == .computed ? "computed from the baud rate" : ""
            table.add([part.name] + cells(part.times) + ["\(Int((part.share * 100).rounded())) %", note])
        }
        table.add(["round trip"] + cells(report.roundTrip) + ["100 %", ""])
        return table.lines()
    }

    private func cells(_ times: TimeSummary) -> [String] {
        [times.minimum, times.median, times.percentile99, times.maximum].map(Self.shown)
    }

    private var facts: [String] {
        var facts: [String] = []
        switch report.loop {
        case .loop(let loop):
            let basis = loop.basis == .phase ? "by the phase of the answers" : "by the spread of the waits"
            let time = "\(Self.shown(loop.period)) ± \(Self.shown(loop.tolerance)) ms"
            facts.append("main loop: one turn in \(time), \(basis)")
        case .none(let range):
            facts.append("main loop: none found; the waits differ only by \(Self.shown(range)) ms")
        case .irregular: facts.append("main loop: none found; the waits are irregular")
        case .tooFew: facts.append("main loop: unknown; at least \(LoopEstimate.fewestSamples) answers are needed")
        }
        if let time = report.byteTime {
            facts.append("line: \(Self.shown(time)) ms for each byte")
        }
        if let timer = carrier.latencyTimer { facts.append("adapter: latency timer \(timer.inWholeMilliseconds) ms") }
        if let step = report.adapterStep { facts.append("adapter: passes bytes on every \(Self.shown(step)) ms") }
        if let interval = report.connectionInterval {
            facts.append("carrier: connection interval \(Self.shown(interval)) ms")
        }
        if let wake = report.wakeDelay {
            facts.append(
                "host: timers fire \(Self.shown(wake.median)) ms late (max \(Self.shown(wake.maximum)))")
        }
        return facts + report.remarks.map { "note: \($0)" }
    }

    private var histogram: [String] {
        let histogram = report.histogram
        let most = histogram.counts.max() ?? 1
        var table = TextTable(["round trip, ms", "", ""])
        for (index, count) in histogram.counts.enumerated() {
            let length = Int((Double(count) / Double(most) * Double(Self.barWidth)).rounded(.up))
            let range = histogram.range(index)
            table.add([
                "\(Self.shown(range.from)) to \(Self.shown(range.to))", "\(count)",
                String(repeating: "#", count: length),
            ])
        }
        return table.lines()
    }

    /// Returns a time in milliseconds with up to two decimals, without trailing zeros.
    private static func shown(_ milliseconds: Double) -> String {
        let hundredths = (abs(milliseconds) * 100).rounded()
        let sign = milliseconds < 0 && hundredths > 0 ? "-" : ""
        let (whole, rest) = (Int(hundredths) / 100, Int(hundredths) % 100)
        if rest == 0 { return "\(sign)\(whole)" }
        return "\(sign)\(whole)." + (rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")
    }

    // MARK: Record

    var record: ResultRecord {
        let record: ResultRecord = [
            "ok": true, "family": question.family, "question": question.text, "answers": measured.samples.count,
            "left_out": measured.disturbedCount, "refused": measured.refusedCount,
            "unanswered": measured.unansweredCount, "carrier": carrier.kind.rawValue,
            "round_trip_ms": Self.record(report.roundTrip), "parts": report.parts.map(Self.record),
            "loop_period_ms": loop.map { Self.rounded($0.period) }, "loop_basis": loop?.basis.rawValue,
            "loop_tolerance_ms": loop.map { Self.rounded($0.tolerance) },
            "byte_time_ms": report.byteTime.map(Self.rounded),
            "latency_timer_ms": carrier.latencyTimer?.inWholeMilliseconds,
            "adapter_step_ms": report.adapterStep.map(Self.rounded),
            "connection_interval_ms": report.connectionInterval.map(Self.rounded),
            "wake_delay_ms": report.wakeDelay.map(Self.record), "histogram": ranges,
            "remarks": report.remarks.map(\.rawValue),
        ]
        return record.known
    }

    private var loop: LoopEstimate? { if case .loop(let loop) = report.loop { loop } else { nil } }

    private var ranges: [ResultRecord] {
        report.histogram.counts.enumerated().map { index, count in
            let range = report.histogram.range(index)
            return ["from_ms": Self.rounded(range.from), "to_ms": Self.rounded(range.to), "count": count]
        }
    }

    private static func record(_ part: LatencyPart) -> ResultRecord {
        [
            "causes": part.orderedCauses.map(\.rawValue), "basis": part.basis.rawValue, "times_ms": record(part.times),
            "share": rounded(part.share),
        ]
    }

    private static func record(_ times: TimeSummary) -> ResultRecord {
        [
            "min": rounded(times.minimum), "median": rounded(times.median), "p99": rounded(times.percentile99),
            "max": rounded(times.maximum), "mean": rounded(times.mean),
        ]
    }

    /// Rounds to three decimals; milliseconds to the microsecond.
    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}

extension LatencyPart {
    fileprivate var orderedCauses: [Cause] { Cause.allCases.filter(causes.contains) }

    /// The part's name, such as `firmware and adapter, together`.
    fileprivate var name: String {
        let names = orderedCauses.map(\.rawValue)
        guard names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and \(names[names.count - 1]), together"
    }
}

extension Duration {
    fileprivate var inWholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
