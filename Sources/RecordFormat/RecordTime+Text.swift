internal import Glibc

extension RecordTime {
    /// The instant so many seconds after 1970-01-01T00:00:00Z, of the years 1 to 9999, to the millisecond.
    public init(secondsSince1970 seconds: Double) { self.init(milliseconds: Int64((seconds * 1000).rounded(.down))) }

    /// Seconds since 1970-01-01T00:00:00Z.
    public var secondsSince1970: Double { Double(milliseconds) / 1000 }

    /// The local date and time to the second, `2025-01-31 17:04:05`.
    public var dateAndTime: String { "\(Self.date(local)) \(Self.timeOfDay(local))" }

    /// The local time of day, `17:04:05.678`.
    public var timeOfDay: String { "\(Self.timeOfDay(local)).\(Self.digits(Int(parts.milliseconds), 3))" }

    /// The local time of day to the second, `17:04:05`.
    public var timeOfDayInSeconds: String { Self.timeOfDay(local) }

    /// ISO 8601 in UTC, `2025-01-31T16:04:05.678Z`.
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

    private static func timeOfDay(_ fields: tm) -> String {
        [fields.tm_hour, fields.tm_min, fields.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
