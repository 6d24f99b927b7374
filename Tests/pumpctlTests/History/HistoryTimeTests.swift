import RecordFormat
import Testing

@testable import pumpctl

@Suite("Times of history")
struct HistoryTimeTests {
    @Test(
        "A time is so long ago, or a date",
        arguments: [
            ("2h", 1_763_704_800), ("7d", 1_763_107_200), ("90s", 1_763_711_910),
            ("1970-01-02Z", 86400), ("2025-11-21T08:00Z", 1_763_712_000), ("2025-11-21 08:00:05Z", 1_763_712_005),
            ("2025-11-21T09:00+01:00", 1_763_712_000), ("2025-11-21T03:30:00-0430", 1_763_712_000),
            ("2025-11-21T08:00:05.000Z", 1_763_712_005),
        ])
    func times(_ text: String, _ seconds: Int64) {
        let now = RecordTime(milliseconds: 1_763_712_000_000)
        #expect(TimeArgument(text, now: now)?.time.milliseconds == seconds * 1000)
    }

    @Test("A time that 'history --json' prints is one that it takes")
    func printed() {
        let time = RecordTime(milliseconds: 1_763_712_005_678)
        #expect(TimeArgument(WallTime(time).iso8601, now: .now)?.time == time)
        #expect(
            TimeArgument(WallTime(time).dateAndTime, now: .now)?.time == RecordTime(milliseconds: 1_763_712_005_000))
    }

    @Test("Today and yesterday begin at midnight")
    func days() throws {
        let now = RecordTime.now
        let today = try #require(TimeArgument("today", now: now)?.time)
        let yesterday = try #require(TimeArgument("yesterday", now: now)?.time)
        #expect(yesterday < today && today <= now)
        for time in [today, yesterday] { #expect(WallTime(time).dateAndTime.hasSuffix("00:00:00")) }
        #expect(23...25 ~= (today.milliseconds - yesterday.milliseconds) / 3_600_000)
    }

    @Test(
        "What is no time is none",
        arguments: [
            "", "2", "soon", "2025-02-30", "2025-13-01", "2025-11-21T25:00", "-1h", "2025-11-21T", "2025-11-21T08:00+1",
            "2025-11-21T08:00+25:00", "2025-11-21T08:00:05.x", "2025-11-21T08", "2025-11-21ZZ",
            "2025-11-21T08:00:05.1.2",
        ])
    func noTimes(_ text: String) { #expect(TimeArgument(text, now: .now) == nil) }
}
