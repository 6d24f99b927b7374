import RecordFormat
import Testing

@Suite("Times as text")
struct RecordTimeTests {
    @Test(
        "A typed time is an age or a date",
        arguments: [
            ("2h", 1_763_704_800), ("7d", 1_763_107_200), ("90s", 1_763_711_910),
            ("1970-01-02Z", 86400), ("2025-11-21T08:00Z", 1_763_712_000), ("2025-11-21 08:00:05Z", 1_763_712_005),
            ("2025-11-21T09:00+01:00", 1_763_712_000), ("2025-11-21T03:30:00-0430", 1_763_712_000),
            ("2025-11-21T08:00:05.000Z", 1_763_712_005),
        ])
    func times(_ text: String, _ seconds: Int64) {
        let now = RecordTime(milliseconds: 1_763_712_000_000)
        #expect(RecordTime(typed: text, now: now)?.milliseconds == seconds * 1000)
    }

    @Test("Times are printed to the millisecond, also before 1970")
    func written() {
        #expect(RecordTime(milliseconds: 1_763_712_005_678).iso8601 == "2025-11-21T08:00:05.678Z")
        #expect(RecordTime(milliseconds: -1).iso8601 == "1969-12-31T23:59:59.999Z")
        #expect(RecordTime(secondsSince1970: -0.001) == RecordTime(milliseconds: -1))
        let time = RecordTime(milliseconds: 1_763_712_005_007)
        #expect(time.timeOfDay == time.timeOfDayInSeconds + ".007")
        #expect(time.dateAndTime.hasSuffix(" " + time.timeOfDayInSeconds))
        #expect(time.secondsSince1970 == 1_763_712_005.007)
    }

    @Test("A printed time can be typed")
    func printed() {
        let time = RecordTime(milliseconds: 1_763_712_005_678)
        #expect(RecordTime(typed: time.iso8601) == time)
        #expect(RecordTime(typed: time.dateAndTime) == RecordTime(milliseconds: 1_763_712_005_000))
    }

    @Test("Today and yesterday begin at midnight")
    func days() throws {
        let now = RecordTime.now
        let today = try #require(RecordTime(typed: "today", now: now))
        let yesterday = try #require(RecordTime(typed: "yesterday", now: now))
        #expect(yesterday < today && today <= now)
        for time in [today, yesterday] { #expect(time.dateAndTime.hasSuffix("00:00:00")) }
        #expect(23...25 ~= (today.milliseconds - yesterday.milliseconds) / 3_600_000)
    }

    @Test(
        "Text that is no time is rejected",
        arguments: [
            "", "2", "soon", "2025-02-30", "2025-13-01", "2025-11-21T25:00", "-1h", "2025-11-21T", "2025-11-21T08:00+1",
            "2025-11-21T08:00+25:00", "2025-11-21T08:00:05.x", "2025-11-21T08", "2025-11-21ZZ",
            "2025-11-21T08:00:05.1.2", "2025-11-21T08:00Z0100", "2025-11-21T08:00++100", "2025-11-21T08:00+010:0",
        ])
    func noTimes(_ text: String) { #expect(RecordTime(typed: text) == nil) }
}
