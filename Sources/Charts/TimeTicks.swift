internal import Glibc
internal import RecordFormat

/// Round times along an axis, in local time.
struct TimeTicks {
    /// The possible distances between two ticks, in seconds. Beyond the last one, a week, whole weeks are used.
    private static let steps: [Double] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604_800,
    ]

    /// The ticks: seconds since 1970-01-01T00:00:00Z, and labels.
    let ticks: [(time: Double, label: String)]

    /// Creates at most `count` + 1 ticks within `times`, in seconds since 1970-01-01T00:00:00Z.
    init(_ times: ClosedRange<Double>, count: Int) {
        let span = times.upperBound - times.lowerBound
        let longest = Self.steps[Self.steps.count - 1]
        let step =
            Self.steps.first { span / $0 <= Double(count) }
            ?? longest * (span / longest / Double(count)).rounded(.up)
        // Use round local times: a tick at local midnight, not at 00:00 UTC. The UTC offset may change within the time
        // range.
        var local = ((times.lowerBound + Self.offset(at: times.lowerBound)) / step).rounded(.up) * step
        var ticks: [(time: Double, label: String)] = []
        while ticks.count <= count {
            let time = local - Self.offset(at: local - Self.offset(at: local))
            if time > times.upperBound { break }
            if time >= times.lowerBound, time > ticks.last?.time ?? -.infinity {
                ticks.append((time, Self.label(time, step)))
            }
            local += step
        }
        self.ticks = ticks
    }

    /// The UTC offset of local time at a time, in seconds.
    private static func offset(at time: Double) -> Double {
        var (seconds, parts) = (time_t(time), tm())
        localtime_r(&seconds, &parts)
        return Double(parts.tm_gmtoff)
    }

    private static func label(_ time: Double, _ step: Double) -> String {
        let text = RecordTime(secondsSince1970: time).dateAndTime
        // The date; or the time to the minute; or, with ticks less than a minute apart, the time to the second.
        let timeOfDay = text.dropFirst(11)
        return String(step >= 86400 ? text.prefix(10) : step >= 60 ? timeOfDay.prefix(5) : timeOfDay.prefix(8))
    }
}
