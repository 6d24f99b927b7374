/// Times that were measured in a verification.
public struct Timings: Sendable {
    /// What is measured.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// From a command's last byte on its way to the first byte of its reply.
        case replyLatency = "reply_latency"
        /// One turn of the main loop that handles no command.
        case loopPeriod = "loop_period"
        /// By how much a turn differs from the median of its row.
        case jitter
        /// What a turn that handles a command takes more.
        case blink
        /// Between two status lines that come unasked.
        case statusInterval = "status_interval"
    }

    /// What a row of measured times comes to, in milliseconds.
    public struct Summary: Sendable, Hashable {
        public let count: Int
        public let minimum: Double
        public let median: Double
        /// The time that 99 % of all do not exceed.
        public let percentile99: Double
        public let maximum: Double
    }

    private var samples: [Kind: [Duration]] = [:]

    mutating func add(_ time: Duration, to kind: Kind) { samples[kind, default: []].append(time) }

    /// What was measured of a kind; nil where nothing was.
    public func summary(of kind: Kind) -> Summary? {
        guard let times = samples[kind]?.sorted(), let first = times.first, let last = times.last else { return nil }
        return Summary(
            count: times.count, minimum: first.milliseconds, median: times.median.milliseconds,
            percentile99: times[min(times.count - 1, times.count * 99 / 100)].milliseconds, maximum: last.milliseconds)
    }
}

extension Duration {
    /// In milliseconds, of which microseconds are the smallest part.
    var milliseconds: Double {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1000
    }
}

extension [Duration] {
    /// The middle one, of two the later; of at least one.
    var median: Duration { sorted()[count / 2] }

    /// Of at least one.
    var mean: Duration { reduce(.zero, +) / count }
}
