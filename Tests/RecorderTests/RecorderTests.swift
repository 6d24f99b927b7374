import Glibc
import RecordFormat
import Recorder
import TestSupport
import Testing

@Suite("Recorder", .timeLimit(.minutes(5)))
struct RecorderTests {
    private let bench = RecordBench()

    @Test("Readings, events and errors of a session can be looked up, with the clock's time")
    func everything() async throws {
        let recorder = bench.recorder()
        let session = recorder.beginSession(family: "pump", endpoint: "/dev/ttyUSB0", device: "0403:6001/A50285BI")
        var reading = Reading()
        reading.add("state", "on")
        reading.add("skin_temp_c", 34.5)
        reading.add("water_temp_c", Double.nan)
        recorder.record(.reading(kind: "status", reading), in: session)
        recorder.record(.event(kind: "manual", text: "MANUAL:ON"), in: session)
        recorder.record(.error(code: "OVERHEAT", text: "it's \"too\" hot\n"), in: session)
        recorder.record(.ended(reason: "closed"), in: session)
        #expect(await recorder.close() == RecorderTally(written: 5, lost: 0))

        // The time, the session's number, the family, the endpoint and the device. In the table of sessions, the time
        // of the end, its reason, and the numbers of readings, events and errors follow.
        let common = ["1000000", "1", #""pump""#, #""/dev/ttyUSB0""#, #""0403:6001/A50285BI""#]
        #expect(
            try bench.rows(.readings)
                == [common + [#""status""#, #"{"state":"on","skin_temp_c":34.5,"water_temp_c":null}"#]])
        #expect(try bench.rows(.columns) == [common + [#""status""#, #""on""#, "34.5", "null"]])
        #expect(
            try bench.rows(.events) == [
                common + [#""manual""#, #""MANUAL:ON""#], common + [#""OVERHEAT""#, #""it's \"too\" hot\n""#],
            ])
        #expect(try bench.rows(.sessions) == [common + ["1000000", #""closed""#, "1", "1", "1"]])
        #expect(bench.reports.state == [])
    }

    @Test("After the end of a session its events are recorded until the next session at its endpoint, and no readings")
    func late() async throws {
        let recorder = bench.recorder()
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        recorder.record(.ended(reason: "lost"), in: session)
        recorder.record(.event(kind: "command", text: "on, unknown"), in: session)
        recorder.record(.reading(kind: "status", Reading("state", 1)), in: session)
        _ = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        recorder.record(.event(kind: "command", text: "too late"), in: session)
        await recorder.close()
        #expect(try bench.rows(.events).map { $0[6] } == [#""on, unknown""#])
        #expect(try bench.rows(.readings).isEmpty)
        #expect(try bench.rows(.sessions).map { $0[6] } == [#""lost""#, "null"])
    }

    @Test("Flushed records are in the database while the recorder is still open")
    func flush() async throws {
        let recorder = bench.recorder(interval: .seconds(1000))
        let session = recorder.beginSession(family: "led", endpoint: "sim:led", device: nil)
        recorder.record(.reading(kind: "value", Reading("led", 1)), in: session)
        try await recorder.flush()
        #expect(try bench.rows(.readings).count == 1)
        #expect(try bench.rows(.sessions).first?[4] == "null", "no device")
        await recorder.close()
    }

    @Test("Records are written after the interval, without a flush")
    func interval() async throws {
        try await bench.prepare()
        let watch = try FolderWatch(bench.folder.path("data"))
        let recorder = bench.recorder(interval: .zero)
        _ = recorder.beginSession(family: "led", endpoint: "sim:led", device: nil)
        let count = try await watch.wait(for: "a session in the database") {
            let count = try bench.countBehindCommit(.sessions)
            return count > 0 ? count : nil
        }
        #expect(count == 1)
        await recorder.close()
    }

    @Test("Background scheduling sets the niceness to 10")
    func stepBack() async throws {
        let niceness = try await onThread {
            Scheduling.stepBack()
            return getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        }
        #expect(niceness == 10)
    }

    @Test("Records are filtered by time, by family, and by the device's name or endpoint")
    func filters() async throws {
        let recorder = bench.recorder()
        for (number, family) in ["pump", "storm"].enumerated() {
            let session = recorder.beginSession(family: family, endpoint: "tcp:\(family):1", device: "device \(number)")
            for second in 0..<10 {
                let time = RecordTime(milliseconds: Int64(second) * 1000)
                recorder.record(Record(session: session, time: time, .reading(kind: "n", Reading("n", second))))
            }
        }
        await recorder.close()
        var filter = RecordFilter()
        filter.since = RecordTime(milliseconds: 3000)
        filter.until = RecordTime(milliseconds: 5000)
        #expect(try bench.rows(.columns, filter).map(\.last) == ["3", "3", "4", "4"])
        filter.family = "storm"
        #expect(try bench.rows(.columns, filter).map { $0[2] } == [#""storm""#, #""storm""#])
        filter.device = "device 0"
        #expect(try bench.rows(.columns, filter) == [])
        filter.device = "device 1"
        #expect(try bench.rows(.columns, filter).count == 2)
        filter.device = "tcp:storm:1"
        #expect(try bench.rows(.columns, filter).count == 2)
    }

    @Test("A member name may contain quotes, SQL or other special characters")
    func strangeNames() async throws {
        let recorder = bench.recorder()
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        for name in ["it's", "a\"b", "a.b", "'); DROP TABLE telemetry; --", "ä"] {
            recorder.record(.reading(kind: "n", Reading(name, 7)), in: session)
        }
        await recorder.close()
        let rows = try bench.rows(.columns)
        #expect(rows.count == 5)
        for row in rows { #expect(row[6...].filter { $0 == "7" }.count == 1, "\(row)") }
    }

    @Test("Records beyond the memory limit are dropped, counted and reported once")
    func overflow() async throws {
        try await bench.prepare()
        let recorder = bench.recorder(memoryLimit: 10_000, interval: .seconds(1000))
        let holder = try LockHolder(bench)
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        for number in 0..<1000 { recorder.record(.reading(kind: "n", Reading("n", number)), in: session) }
        recorder.record(.ended(reason: "closed"), in: session)
        try holder.release()
        let tally = await recorder.close()
        #expect(tally.lost > 900)
        // The readings, and the beginning and the end of the session.
        #expect(tally.written + tally.lost == 1002)
        #expect(try bench.rows(.readings).count == tally.written - 2)
        #expect(try bench.rows(.sessions).first?[6] == #""closed""#, "begin and end are kept in any case")
        #expect(bench.reports.state.filter { $0 == .overflowing }.count == 1)
    }

    @Test("Dropped records are reported once while nothing can be written, however often that is tried")
    func longOverflow() async throws {
        try await bench.prepare()
        let recorder = bench.recorder(patience: .zero, memoryLimit: 10_000, interval: .seconds(1000))
        let holder = try LockHolder(bench)
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        for _ in 0..<3 {
            for number in 0..<100 { recorder.record(.reading(kind: "n", Reading("n", number)), in: session) }
            // The second attempt is made without new records.
            for _ in 0..<2 { await #expect(throws: RecorderError.self) { try await recorder.flush() } }
        }
        try holder.release()
        #expect(await recorder.close().lost > 200)
        #expect(bench.reports.state.filter { $0 == .overflowing }.count == 1)
    }

    @Test("A closed recorder refuses to flush")
    func closed() async throws {
        let recorder = bench.recorder()
        await recorder.close()
        let error = await #expect(throws: RecorderError.self) { try await recorder.flush() }
        #expect(error?.code == .closed)
        #expect(await recorder.close() == RecorderTally())
    }

    @Test("A deleted database file is created again, with the sessions that have not ended")
    func removed() async throws {
        let recorder = bench.recorder()
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        try await recorder.flush()
        for suffix in ["", "-wal", "-shm"] { remove(bench.path + suffix) }
        recorder.record(.reading(kind: "n", Reading("n", 1)), in: session)
        await recorder.close()
        #expect(try bench.rows(.columns).map { $0[2] } == [#""pump""#])
    }
}
