internal import Glibc

extension RecordTime {
    /// The units of a duration, in milliseconds. `ms` must precede `s`, since both end in `s`.
    private static let units: [(String, Double)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// The named days, as days before today.
    private static let days: [String: Int32] = ["today": 0, "yesterday": 1]

    /// Parses a time as a person types it.
    ///
    /// Accepted are an age (`90s`, `2h`, `7d`), `today`, `yesterday`, or a date of the years 1970 to 9999 in local
    /// time, optionally with a time of day (`2026-11-20`, `2026-11-20T17:04`), to which `Z` or a UTC offset (`+01:00`)
    /// may be appended. `Z` may also follow a date alone. The formats of ``dateAndTime`` and ``iso8601`` are accepted.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The time that ages and named days refer to.
    ///   - isLater: Whether to choose the later instant for a local time that occurs twice, as at the end of summer
    ///     time.
    /// - Returns: nil for any other text.
    public init?(typed text: String, now: RecordTime = .now, isLater: Bool = false) {
        if let ago = Self.ago(text) {
            self.init(milliseconds: now.milliseconds - ago)
        } else if let days = Self.days[text.lowercased()], let day = Day(at: now, before: days) {
            self = day.start
        } else if let date = Self.date(text, isLater) {
            self = date
        } else {
            return nil
        }
    }

    /// Returns the milliseconds of an age such as `90s`; nil for 100,000 days or more, so that no age exceeds an
    /// `Int64`, and for any other text.
    private static func ago(_ text: String) -> Int64? {
        guard let unit = units.first(where: { text.hasSuffix($0.0) }),
            let number = Double(text.dropLast(unit.0.count)), number >= 0
        else { return nil }
        let time = number * unit.1
        return time < 100_000 * 86_400_000 ? Int64(time) : nil
    }

    private static func date(_ text: String, _ isLater: Bool) -> RecordTime? {
        let halves = text.split(maxSplits: 1, omittingEmptySubsequences: false) { "T ".contains($0) }
        // `2026-11-20Z` is a day in UTC.
        let isUTCDay = halves.count == 1 && text.hasSuffix("Z")
        guard let day = Day(isUTCDay ? text.dropLast() : halves[0]) else { return nil }
        guard halves.count == 2 else { return isUTCDay ? day.time(TimeOfDay(), offset: 0) : day.start }
        let clock = halves[1].prefix { !"Z+-".contains($0) }
        guard let timeOfDay = TimeOfDay(clock) else { return nil }
        let zone = halves[1][clock.endIndex...]
        if zone.isEmpty { return day.time(timeOfDay, isLater: isLater) }
        return offset(zone).map { day.time(timeOfDay, offset: $0) }
    }

    /// Returns the seconds ahead of UTC for `Z`, `+01:00` or `-0330`; nil for any other text.
    private static func offset(_ zone: Substring) -> Int64? {
        if zone == "Z" { return 0 }
        var digits = Array(zone.utf8.dropFirst())
        if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
        guard zone.first != "Z", digits.count == 4, digits.allSatisfy({ 0x30...0x39 ~= $0 }),
            let number = Int64(String(decoding: digits, as: UTF8.self)), number % 100 < 60, number < 2400
        else { return nil }
        return (number / 100 * 3600 + number % 100 * 60) * (zone.first == "-" ? -1 : 1)
    }
}

/// A time of day.
private struct TimeOfDay {
    var (hour, minute, second): (Int32, Int32, Int32) = (0, 0, 0)
    var milliseconds: Int64 = 0

    /// Creates midnight.
    init() {}

    /// Parses `17:04`, `17:04:05` or `17:04:05.678`.
    init?(_ text: Substring) {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        let seconds = fields.count == 3 ? fields[2].split(separator: ".", omittingEmptySubsequences: false) : ["0"]
        guard 2...3 ~= fields.count, 1...2 ~= seconds.count, let hour = Int32(fields[0]), 0...23 ~= hour,
            let minute = Int32(fields[1]), 0...59 ~= minute, let second = Int32(seconds[0]), 0...60 ~= second
        else { return nil }
        (self.hour, self.minute, self.second) = (hour, minute, second)
        guard seconds.count == 2 else { return }
        guard seconds[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let part = Double("0.\(seconds[1])") else {
            return nil
        }
        milliseconds = Int64((part * 1000).rounded())
    }
}

/// A day of the calendar.
private struct Day {
    private let (year, month, day): (Int32, Int32, Int32)

    /// Parses `2026-11-20`.
    init?(_ text: Substring) {
        let fields = text.split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) ?? -1 }
        guard fields.count == 3, 1970...9999 ~= fields[0], 1...12 ~= fields[1], 1...31 ~= fields[2] else { return nil }
        (year, month, day) = (fields[0], fields[1], fields[2])
        // Refuse dates such as the 31st of a month with 30 days.
        var parts = parts(TimeOfDay())
        timegm(&parts)
        guard parts.tm_mday == day else { return nil }
    }

    /// Creates the local day that is a number of days before a time.
    init?(at time: RecordTime, before days: Int32) {
        var (seconds, parts) = (time_t(time.milliseconds / 1000), tm())
        localtime_r(&seconds, &parts)
        parts.tm_mday -= days
        // Use noon, which is never skipped when clocks are put forward.
        (parts.tm_hour, parts.tm_isdst) = (12, -1)
        guard mktime(&parts) >= 0 else { return nil }
        (year, month, day) = (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
    }

    /// The beginning of the day, in local time.
    var start: RecordTime { time(TimeOfDay()) }

    /// A time of the day, in local time. If it occurs twice, the earlier one, unless `isLater` is true.
    func time(_ timeOfDay: TimeOfDay, isLater: Bool = false) -> RecordTime {
        var local = parts(timeOfDay)
        var seconds = mktime(&local)
        // A leap second, 23:59:60, is the beginning of the next day.
        if local.tm_mday != day, timeOfDay.second < 60 {
            // If clocks are put forward at midnight, midnight does not exist: the day begins at the change.
            local = parts(timeOfDay)
            local.tm_isdst = 0
            seconds = mktime(&local)
        }
        if let other = RecordTime.other(of: seconds), (other > seconds) == isLater { seconds = other }
        return RecordTime(milliseconds: Int64(seconds) * 1000 + timeOfDay.milliseconds)
    }

    /// A time of the day at a UTC offset in seconds.
    func time(_ timeOfDay: TimeOfDay, offset: Int64) -> RecordTime {
        var parts = parts(timeOfDay)
        return RecordTime(milliseconds: (Int64(timegm(&parts)) - offset) * 1000 + timeOfDay.milliseconds)
    }

    private func parts(_ timeOfDay: TimeOfDay) -> tm {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (timeOfDay.hour, timeOfDay.minute, timeOfDay.second)
        parts.tm_isdst = -1
        return parts
    }
}
