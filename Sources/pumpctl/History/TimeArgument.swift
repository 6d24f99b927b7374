import Glibc
import RecordFormat

/// A time as it is typed: so long ago (`2h`, `7d`), or a date in local time, with a time of day or without
/// (`2026-11-20`, `2026-11-20T17:04`).
struct TimeArgument {
    static let rule = "a time is 30m, 2h, 7d for so long ago, or a date as 2026-11-20 or 2026-11-20T17:04"

    let time: RecordTime

    init?(_ text: String, now: RecordTime) {
        if let ago = Self.ago(text) {
            time = RecordTime(milliseconds: now.milliseconds - ago)
        } else if let date = Self.date(text) {
            time = date
        } else {
            return nil
        }
    }

    /// Milliseconds.
    private static func ago(_ text: String) -> Int64? {
        if text.hasSuffix("d") {
            guard let days = Double(text.dropLast()), days >= 0, days < 100_000 else { return nil }
            return Int64(days * 86_400_000)
        }
        guard text.utf8.last.map({ $0 > UInt8(ascii: "9") }) ?? false, let time = SecondsArgument(argument: text) else {
            return nil
        }
        return Int64(time.duration / .milliseconds(1))
    }

    private static func date(_ text: String) -> RecordTime? {
        let isUTC = text.hasSuffix("Z")
        let halves = (isUTC ? text.dropLast() : text[...]).split(omittingEmptySubsequences: false) { "T ".contains($0) }
        let day = halves[0].split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) ?? -1 }
        let clock = halves.count == 2 ? halves[1].split(separator: ":", omittingEmptySubsequences: false) : ["0", "0"]
        let time = clock.map { Int32($0) ?? -1 } + [0]
        guard halves.count <= 2, day.count == 3, 3...4 ~= time.count, 1970...9999 ~= day[0], 1...12 ~= day[1],
            1...31 ~= day[2], 0...23 ~= time[0], 0...59 ~= time[1], 0...60 ~= time[2]
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (day[0] - 1900, day[1] - 1, day[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (time[0], time[1], time[2], -1)
        let seconds = isUTC ? timegm(&parts) : mktime(&parts)
        // The 31st of a month that has 30 days is none.
        guard parts.tm_mday == day[2] else { return nil }
        return RecordTime(milliseconds: Int64(seconds) * 1000)
    }
}
