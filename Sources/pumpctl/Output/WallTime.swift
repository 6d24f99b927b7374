import Glibc
import RecordFormat

/// An instant as people and programs write it, to the millisecond.
struct WallTime {
    private let seconds: time_t
    private let milliseconds: Int

    private init(seconds: time_t, milliseconds: Int) {
        self.seconds = seconds
        self.milliseconds = milliseconds
    }

    /// The instant so many seconds after 1970-01-01T00:00:00Z, of the years 1 to 9999.
    init(secondsSince1970 seconds: Double) {
        let milliseconds = Int((seconds * 1000).rounded(.down))
        let part = (milliseconds % 1000 + 1000) % 1000
        self.init(seconds: (milliseconds - part) / 1000, milliseconds: part)
    }

    /// The present.
    static var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(seconds: time.tv_sec, milliseconds: time.tv_nsec / 1_000_000)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    var secondsSince1970: Double { Double(seconds) + Double(milliseconds) / 1000 }

    /// An instant that was recorded.
    init(_ time: RecordTime) {
        let (seconds, milliseconds) = time.milliseconds.quotientAndRemainder(dividingBy: 1000)
        self.init(
            seconds: Int(milliseconds < 0 ? seconds - 1 : seconds),
            milliseconds: Int(milliseconds < 0 ? milliseconds + 1000 : milliseconds))
    }

    /// The instant as it is recorded.
    var recordTime: RecordTime { RecordTime(milliseconds: Int64(seconds) * 1000 + Int64(milliseconds)) }

    /// The local date and time to the second, `2025-01-31 17:04:05`.
    var dateAndTime: String {
        var (seconds, parts) = (seconds, tm())
        localtime_r(&seconds, &parts)
        return "\(Self.date(parts)) \(Self.timeOfDay(parts))"
    }

    /// The local time of day, `17:04:05.678`.
    var timeOfDay: String {
        var (seconds, parts) = (seconds, tm())
        localtime_r(&seconds, &parts)
        return Self.timeOfDay(parts) + "." + Self.digits(milliseconds, 3)
    }

    /// The local time of day to the second, `17:04:05`.
    var timeOfDayInSeconds: String { String(timeOfDay.dropLast(4)) }

    /// ISO 8601 in UTC, `2025-01-31T16:04:05.678Z`.
    var iso8601: String {
        var (seconds, parts) = (seconds, tm())
        gmtime_r(&seconds, &parts)
        return "\(Self.date(parts))T\(Self.timeOfDay(parts)).\(Self.digits(milliseconds, 3))Z"
    }

    private static func date(_ parts: tm) -> String {
        [
            digits(Int(parts.tm_year) + 1900, 4), digits(Int(parts.tm_mon) + 1, 2), digits(Int(parts.tm_mday), 2),
        ].joined(separator: "-")
    }

    private static func timeOfDay(_ parts: tm) -> String {
        [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
