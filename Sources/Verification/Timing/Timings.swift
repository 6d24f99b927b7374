/// The times that a verification measured.
public struct Timings: Sendable {
    /// A measured quantity.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The time from sending a command to the first byte of its reply.
        case replyLatency = "reply_latency"
        /// The duration of a turn of the firmware's main loop that handles no command.
        case loopPeriod = "loop_period"
        /// The absolute difference between the duration of a turn and the median of the turns that were measured with
        /// it.
        case jitter
        /// The extra duration of a turn that handles a command.
        case blink
        /// The time between two unsolicited status lines.
        case statusInterval = "status_interval"
    }

    /// Statistics of measured times, in milliseconds.
    public struct Summary: Sendable, Hashable {
        /// The number of measured times.
        public let count: Int
        /// The shortest time.
        public let minimum: Double
        /// The median.
        public let median: Double
        /// The 99th percentile.
        public let percentile99: Double
        /// The longest time.
        public let maximum: Double
    }

    private var samples: [Kind: [Duration]] = [:]

    mutating func add(_ time: Duration, to kind: Kind) { samples[kind, default: []].append(time) }

    /// Returns the statistics of a quantity; nil if it was not measured.
    public func summary(of kind: Kind) -> Summary? {
        guard let times = samples[kind]?.sorted(), let first = times.first, let last = times.last else { return nil }
        return Summary(
            count: times.count, minimum: first.milliseconds, median: times.median.milliseconds,
            percentile99: times[min(times.count - 1, times.count * 99 / 100)].milliseconds, maximum: last.milliseconds)
    }
}

extension Duration {
    /// The duration in milliseconds, truncated to microseconds.
    var milliseconds: Double {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1000
    }
}

extension [Duration] {
    /// The middle element in order of size; of two, the larger. The array must not be empty.
    var median: Duration { sorted()[count / 2] }

    /// The arithmetic mean. The array must not be empty.
    var mean: Duration { reduce(.zero, +) / count }
}
