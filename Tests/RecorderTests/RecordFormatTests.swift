import RecordFormat
import Testing

@Suite("Record lines")
struct RecordFormatTests {
    private static let contents: [Record.Content] = {
        var reading = Reading()
        reading.add("state", "on\t\n\"\\ä😀")
        reading.add("skin_temp_c", 34.5)
        reading.add("on", true)
        return [
            .begun(family: "pump", endpoint: "/dev/ttyUSB0", device: nil),
            .begun(family: "pump", endpoint: "tab\there", device: "0403:6001/A50285BI"),
            .reading(kind: "status", reading),
            .reading(kind: "", Reading()), .event(kind: "manual", text: nil),
            .event(kind: "text", text: "\u{1}\u{7F}\r\n"),
            .error(code: "OVERHEAT", text: ""), .ended(reason: "null"),
        ]
    }()

    @Test("A record survives the round trip through its line", arguments: contents)
    func there(_ content: Record.Content) {
        let record = Record(session: .max, time: RecordTime(milliseconds: -1), content)
        #expect(!record.line.contains("\n"))
        #expect(Record(line: record.line[...]) == record)
    }

    @Test(
        "A line that is no record is rejected",
        arguments: [
            "", "commit", "begun\t1\t2", "reading\t1\t2\t\"k\"\t[1]", "reading\tx\t2\t\"k\"\t{}",
            "event\t1\t2\tk\tnull",
            "ended\t1\t2\t\"open", "ended\t1\t2\t\"\\u12\"", "other\t1\t2\t\"k\"",
        ])
    func foreign(_ line: String) { #expect(Record(line: line[...]) == nil) }

    @Test("A series survives the round trip through its line")
    func series() {
        let points = [
            FoldedSeries.Point(time: RecordTime(milliseconds: -7), value: -0.1, isFirst: true),
            FoldedSeries.Point(time: RecordTime(milliseconds: 1_763_708_400_000), value: 1e-9, isFirst: false),
        ]
        for points in [points, []] {
            let series = FoldedSeries(
                family: "storm", endpoint: "a\tb", device: points.isEmpty ? nil : "ä\n", part: "pipe 1", name: "value",
                points: points)
            let answer = Answer.series(series)
            #expect(!answer.line.contains("\n"))
            #expect(Answer(line: answer.line[...]) == answer)
        }
    }

    @Test(
        "An answer survives the round trip through its line",
        arguments: [
            Answer.row(["1", "\"a\"", "null"]), .overflowing, .recovered(lost: 3), .done(written: 1, lost: 2),
            .failing(Trouble(code: "full", text: "can't write:\tfull", hint: "make room")),
            .refused(Trouble(code: "full", text: "", hint: "\n")), .message(strange), .committed(isNew: []),
            .committed(isNew: [true, false, false]),
        ])
    func answers(_ answer: Answer) { #expect(Answer(line: answer.line[...]) == answer) }

    private static let strange = StoredMessage(
        id: "i\td", category: "\u{1B}\n", received: RecordTime(milliseconds: -1), status: .synced,
        json: #"{"a":"\t ä😀"}"#)

    @Test(
        "A request survives the round trip through its line",
        arguments: [MessageRequest.store(strange), .markSynced(id: "a\t\"b"), .commit])
    func requests(_ request: MessageRequest) {
        #expect(!request.line.contains("\n"))
        #expect(MessageRequest(line: request.line[...]) == request)
        #expect(Record(line: request.line[...]) == nil)
    }

    @Test(
        "A line that is no request is rejected",
        arguments: [
            "", "commit\t1", "synced", "synced\tx", "store", "store\t\"i\"\t\"c\"\t1\tlost\t{}",
            "store\t\"i\"\t\"c\"\t1\tsynced\t[]", "store\t\"i\"\t\"c\"\tx\tsynced\t{}",
        ])
    func foreignRequests(_ line: String) { #expect(MessageRequest(line: line[...]) == nil) }
}
