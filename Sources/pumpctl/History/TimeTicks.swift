import Glibc
import RecordFormat

/// Round times along an axis, in local time.
struct TimeTicks {
    private static let steps: [Double] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604_800,
    ]

    /// Seconds since 1970-01-01T00:00:00Z, and what is written there.
    let ticks: [(time: Double, label: String)]

    /// At most `count` of them.
    init(_ times: ClosedRange<Double>, count: Int) {
        let span = times.upperBound - times.lowerBound
        let longest = Self.steps[Self.steps.count - 1]
        let step =
            Self.steps.first { span / $0 <= Double(count) }
            ?? longest * (span / longest / Double(count)).rounded(.up)
        // Round in local time: midnight is a tick, not 00:00 UTC.
        var (seconds, parts) = (time_t(times.lowerBound), tm())
        localtime_r(&seconds, &parts)
        let offset = Double(parts.tm_gmtoff)
        var time = ((times.lowerBound + offset) / step).rounded(.up) * step - offset
        var ticks: [(Double, String)] = []
        while time <= times.upperBound, ticks.count <= count {
            let text = WallTime(RecordTime(milliseconds: Int64(time * 1000))).dateAndTime
            ticks.append(
                (
                    time,
                    String(
                        step >= 86400 ? text.prefix(10) : step >= 60 ? text.dropFirst(11).prefix(5) : text.dropFirst(11)
                    )
                ))
            time += step
        }
        self.ticks = ticks
    }
}
