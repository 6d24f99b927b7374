/// A limit of an attribution.
public enum LatencyRemark: String, Sendable, Hashable {
    /// The answers came faster than the port's rate allows, or the port is a pseudo-terminal, which has no rate: no
    /// time is attributed to a wire.
    case noLineRate = "no_line_rate"
    /// The answers do not show the rate of a line.
    case rateUnknown = "line_rate_unknown"
    /// The time of the query's way out through the adapter does not show: it is part of the firmware's time.
    case wayOut = "way_out_in_firmware"
    /// The packets do not show the interval between connection events.
    case intervalUnknown = "connection_interval_unknown"
    /// The average pause is less than two thirds of a turn of the loop: some waits may be favoured.
    case loopUndersampled = "loop_undersampled"
    /// The waits differ, but not as those for one loop do.
    case irregularWaits = "irregular_waits"
}

extension LatencyRemark: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noLineRate:
            "the port has no line rate, or the replies came faster than it allows: no time is attributed to a wire"
        case .rateUnknown: "the replies do not show a line rate, so the wire's time can't be separated"
        case .wayOut: "the firmware's time includes the query's way through the adapter, which can't be measured"
        case .intervalUnknown: "the packets do not show a connection interval"
        case .loopUndersampled: "the pauses are short for this loop: repeat the measurement with a longer --interval"
        case .irregularWaits: "the firmware's waits do not fit a single loop"
        }
    }
}
