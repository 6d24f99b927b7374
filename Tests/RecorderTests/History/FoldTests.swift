import RecordFormat
import Recorder
import TestSupport
import Testing

@Suite("Folding readings into chart points")
struct FoldTests {
    private let bench = RecordBench()

    /// Records readings, and folds them into at most `columns` columns.
    ///
    /// - Parameter records: For each reading: its session, the time in milliseconds, and the JSON. Sessions up to 9 are
    ///   of device "a", the others of device "b".
    private func fold(_ columns: Int, _ records: [(UInt64, Int64, String)]) async throws -> [FoldedSeries] {
        let recorder = bench.recorder()
        for session in Set(records.map(\.0)).sorted() {
            let device = session < 10 ? "a" : "b"
            recorder.record(
                Record(
                    session: session, time: RecordTime(milliseconds: 0),
                    .begun(family: "pump", endpoint: "/dev/\(device)", device: device)))
        }
        for (session, milliseconds, json) in records {
            let reading = try #require(Reading(json: json[...]))
            let time = RecordTime(milliseconds: milliseconds)
            recorder.record(Record(session: session, time: time, .reading(kind: "status", reading)))
        }
        await recorder.close()
        return try RecordReader(bench.path).fold(RecordFilter(), columns: columns)
    }

    /// Each point as `!` if it is not joined to the previous one, the milliseconds, and the value.
    private func text(_ series: FoldedSeries?) -> [String] {
        (series?.points ?? []).map { "\($0.isFirst ? "!" : "")\($0.time.milliseconds)=\($0.value)" }
    }

    @Test("Each column keeps its lowest and its highest reading")
    func extremes() async throws {
        let records = (0..<1000).map { number -> (UInt64, Int64, String) in
            (1, Int64(number), #"{"n":\#(number % 100 == 37 ? -5 : number % 100 == 73 ? 7.25 : 1)}"#)
        }
        let series = try await fold(10, records)
        #expect(series.map(\.name) == ["n"])
        #expect(text(series.first) == ["!37=-5.0", "73=7.25"] + (1..<10).flatMap { ["\($0)37=-5.0", "\($0)73=7.25"] })
    }

    @Test("A curve breaks at a missing value and at the start of another session")
    func gaps() async throws {
        let series = try await fold(
            1000,
            [
                (1, 0, #"{"n":1,"m":1}"#), (1, 10, #"{"n":2,"m":1}"#), (1, 20, #"{"n":null}"#),
                (1, 30, #"{"n":3,"m":1}"#),
                (2, 40, #"{"n":4,"m":1}"#), (2, 50, #"{"n":5,"m":1}"#),
            ])
        #expect(text(series.first) == ["!0=1.0", "10=2.0", "!30=3.0", "!40=4.0", "50=5.0"])
        #expect(text(series.last) == ["!0=1.0", "10=1.0", "!30=1.0", "!40=1.0", "50=1.0"])
    }

    @Test("Devices and parts of a device have separate curves that do not break each other")
    func parts() async throws {
        let series = try await fold(
            1000,
            [
                (1, 0, #"{"pipe":"1","port":"2","point":"3","value":5}"#), (11, 5, #"{"value":6}"#),
                (1, 10, #"{"pipe":"1","port":"2","point":"4","value":7}"#),
                (1, 20, #"{"pipe":"1","port":"2","point":"3","value":8}"#), (11, 25, #"{"value":9}"#),
            ])
        #expect(series.map(\.endpoint) == ["/dev/a", "/dev/b", "/dev/a"])
        #expect(series.map(\.part) == ["pipe 1 port 2 point 3", "", "pipe 1 port 2 point 4"])
        #expect(series.map { text($0) } == [["!0=5.0", "20=8.0"], ["!5=6.0", "25=9.0"], ["!10=7.0"]])
    }

    @Test("Booleans and pump states are charted as numbers; other words are left out")
    func words() async throws {
        let series = try await fold(
            10,
            [
                (1, 0, #"{"state":"off","led":true,"error":"OVERHEAT"}"#), (1, 10, #"{"state":"on","led":false}"#),
                (1, 20, #"{"state":"error"}"#),
            ])
        #expect(series.map(\.name) == ["state", "led"])
        #expect(text(series.first) == ["!0=0.0", "10=1.0", "20=2.0"])
        #expect(text(series.last) == ["!0=1.0", "10=0.0"])
    }

    @Test(
        "Numbers are parsed to their last digit", arguments: ["-0.1", "12.345678", "1e-3", "123456789012345678", "0"])
    func numbers(_ text: String) async throws {
        let series = try await fold(10, [(1, 0, "{\"n\":\(text)}")])
        #expect(series.first?.points.map(\.value) == [try #require(Double(text))])
    }

    @Test("An empty record has no curves")
    func nothing() async throws {
        try await bench.prepare()
        #expect(try await fold(10, []).isEmpty)
    }
}
