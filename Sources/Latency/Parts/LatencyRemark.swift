/// A limit of an attribution.
public enum LatencyRemark: String, Sendable, Hashable {
    /// The answers came faster than the port's rate allows, or the port has no rate: no time is attributed to a wire.
    case noLineRate = "no_line_rate"
    /// The answers do not show the rate of a line.
    case rateUnknown = "line_rate_unknown"
    /// The time of the query's way out through the adapter does not show: it is part of the firmware's time.
    case wayOut = "way_out_in_firmware"
    /// The packets do not show the interval between connection events.
    case intervalUnknown = "connection_interval_unknown"
    /// The pauses span less than one and a half turns of the loop: some waits may be favoured.
    case loopUndersampled = "loop_undersampled"
    /// The waits differ, but not as those for one loop do.
    case irregularWaits = "irregular_waits"
}

extension LatencyRemark: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noLineRate:
            "the answers came faster than the port's baud rate allows, so there is no wire that takes time"
        case .rateUnknown: "the answers do not show the rate of a line, so the wire can't be told apart"
        case .wayOut: "the firmware's time includes the question's way out through the adapter, which does not show"
        case .intervalUnknown: "the packets do not show a connection interval"
        case .loopUndersampled: "the pauses are short for this loop: repeat it with a longer --interval"
        case .irregularWaits: "the firmware's waits are not those of one loop"
        }
    }
}
