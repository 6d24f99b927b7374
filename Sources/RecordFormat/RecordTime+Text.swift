internal import Glibc

extension RecordTime {
    /// Creates a time from seconds since 1970-01-01T00:00:00Z, rounded down to milliseconds. The time must lie in the
    /// years 1 to 9999; this is not checked.
    public init(secondsSince1970 seconds: Double) { self.init(milliseconds: Int64((seconds * 1000).rounded(.down))) }

    /// The seconds since 1970-01-01T00:00:00Z.
    public var secondsSince1970: Double { Double(milliseconds) / 1000 }

    /// The local date and time to the second, `2025-01-31 17:04:05`. A local time that occurs twice has its UTC offset
    /// appended, `2025-10-26 02:30:00+02:00`.
    public var dateAndTime: String {
        let text = "\(Self.date(local)) \(Self.timeOfDay(local))"
        return Self.other(of: parts.seconds) == nil ? text : text + Self.offset(local)
    }

    /// The local time of day, `17:04:05.678`.
    public var timeOfDay: String { "\(Self.timeOfDay(local)).\(Self.digits(Int(parts.milliseconds), 3))" }

    /// The local time of day to the second, `17:04:05`.
    public var timeOfDayInSeconds: String { Self.timeOfDay(local) }

    /// The time as ISO 8601 in UTC, `2025-01-31T16:04:05.678Z`.
    public var iso8601: String {
        var (seconds, fields) = (parts.seconds, tm())
        gmtime_r(&seconds, &fields)
        return "\(Self.date(fields))T\(Self.timeOfDay(fields)).\(Self.digits(Int(parts.milliseconds), 3))Z"
    }

    private var parts: (seconds: time_t, milliseconds: Int64) {
        let part = (milliseconds % 1000 + 1000) % 1000
        return (time_t((milliseconds - part) / 1000), part)
    }

    private var local: tm {
        var (seconds, fields) = (parts.seconds, tm())
        localtime_r(&seconds, &fields)
        return fields
    }

    private static func date(_ fields: tm) -> String {
        [
            digits(Int(fields.tm_year) + 1900, 4), digits(Int(fields.tm_mon) + 1, 2), digits(Int(fields.tm_mday), 2),
        ].joined(separator: "-")
    }

    /// The UTC offset, such as `+01:00`.
    private static func offset(_ fields: tm) -> String {
        let minutes = abs(Int(fields.tm_gmtoff)) / 60
        return (fields.tm_gmtoff < 0 ? "-" : "+") + "\(digits(minutes / 60, 2)):\(digits(minutes % 60, 2))"
    }

    /// The other instant with the same local time; nil if there is none. There is one when clocks are put back, as at
    /// the end of summer time.
    static func other(of seconds: time_t) -> time_t? {
        func offset(_ seconds: time_t) -> time_t {
            var (seconds, fields) = (seconds, tm())
            localtime_r(&seconds, &fields)
            return fields.tm_gmtoff
        }
        let own = offset(seconds)
        // Assumes that clocks are put back by at most three hours, and not twice within three hours.
        for change in [-1, 1].map({ offset(seconds - $0 * 3 * 3600) - own }) where change != 0 {
            let other = seconds - change
            if offset(other) == own + change { return other }
        }
        return nil
    }

    private static func timeOfDay(_ fields: tm) -> String {
        [fields.tm_hour, fields.tm_min, fields.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
