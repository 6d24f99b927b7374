internal import Glibc

extension RecordTime {
    /// Milliseconds of what a number may be followed by.
    private static let units: [(String, Double)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// How many days ago a day began that has a name.
    private static let days: [String: Int32] = ["today": 0, "yesterday": 1]

    /// A time as it is typed: so long ago (`90s`, `2h`, `7d`), `today`, `yesterday`, or a date of the years 1970 to 9999 in local
    /// time, with a time of day or without (`2026-11-20`, `2026-11-20T17:04`); behind it may be `Z` or an offset (`+01:00`).
    /// What ``dateAndTime`` and ``iso8601`` say is such, too.
    ///
    /// - Parameter isLater: Which of two instants a time of day is that comes twice, as where summer time ends: the later one.
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

    /// Milliseconds.
    private static func ago(_ text: String) -> Int64? {
        guard let unit = units.first(where: { text.hasSuffix($0.0) }),
            let number = Double(text.dropLast(unit.0.count)), number >= 0
        else { return nil }
        let time = number * unit.1
        return time < 100_000 * 86_400_000 ? Int64(time) : nil
    }

    private static func date(_ text: String, _ isLater: Bool) -> RecordTime? {
        let halves = text.split(maxSplits: 1, omittingEmptySubsequences: false) { "T ".contains($0) }
        // A day of UTC is `2026-11-20Z`.
        let isUTCDay = halves.count == 1 && text.hasSuffix("Z")
        guard let day = Day(isUTCDay ? text.dropLast() : halves[0]) else { return nil }
        guard halves.count == 2 else { return isUTCDay ? day.time(TimeOfDay(), offset: 0) : day.start }
        let clock = halves[1].prefix { !"Z+-".contains($0) }
        guard let timeOfDay = TimeOfDay(clock) else { return nil }
        let zone = halves[1][clock.endIndex...]
        if zone.isEmpty { return day.time(timeOfDay, isLater: isLater) }
        return offset(zone).map { day.time(timeOfDay, offset: $0) }
    }

    /// Seconds that `Z`, `+01:00` or `-0330` is ahead of UTC.
    private static func offset(_ zone: Substring) -> Int64? {
        if zone == "Z" { return 0 }
        let digits = zone.dropFirst().filter { $0 != ":" }
        guard digits.utf8.count == 4, let number = Int64(digits), number % 100 < 60, number < 2400 else { return nil }
        return (number / 100 * 3600 + number % 100 * 60) * (zone.first == "-" ? -1 : 1)
    }
}

/// A time of day.
private struct TimeOfDay {
    var (hour, minute, second): (Int32, Int32, Int32) = (0, 0, 0)
    var milliseconds: Int64 = 0

    /// Midnight.
    init() {}

    /// From `17:04`, `17:04:05` or `17:04:05.678`.
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

    /// From `2026-11-20`.
    init?(_ text: Substring) {
        let fields = text.split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) ?? -1 }
        guard fields.count == 3, 1970...9999 ~= fields[0], 1...12 ~= fields[1], 1...31 ~= fields[2] else { return nil }
        (year, month, day) = (fields[0], fields[1], fields[2])
        // The 31st of a month that has 30 days is none.
        var parts = parts(TimeOfDay())
        timegm(&parts)
        guard parts.tm_mday == day else { return nil }
    }

    /// The local day so many days before that of a time.
    init?(at time: RecordTime, before days: Int32) {
        var (seconds, parts) = (time_t(time.milliseconds / 1000), tm())
        localtime_r(&seconds, &parts)
        parts.tm_mday -= days
        // At noon: no clock is put forward over that.
        (parts.tm_hour, parts.tm_isdst) = (12, -1)
        guard mktime(&parts) >= 0 else { return nil }
        (year, month, day) = (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
    }

    /// When it begins, in local time.
    var start: RecordTime { time(TimeOfDay()) }

    /// A time of it, in local time: the earlier one if it comes twice, unless the later one is asked for.
    func time(_ timeOfDay: TimeOfDay, isLater: Bool = false) -> RecordTime {
        var local = parts(timeOfDay)
        var seconds = mktime(&local)
        if local.tm_mday != day {
            // Where the clocks are put forward at midnight, there is none: the day begins at the change.
            local = parts(timeOfDay)
            local.tm_isdst = 0
            seconds = mktime(&local)
        }
        if let other = RecordTime.other(of: seconds), (other > seconds) == isLater { seconds = other }
        return RecordTime(milliseconds: Int64(seconds) * 1000 + timeOfDay.milliseconds)
    }

    /// A time of it, where the clocks are so many seconds ahead of UTC.
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
