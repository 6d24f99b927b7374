import GRDB
import Glibc
import RecordFormat
@testable import Recorder
import TestSupport
import Testing

/// Conditions that prevent recording.
@Suite("Recorder failures", .timeLimit(.minutes(5)))
struct TroubleTests {
    private let bench = RecordBench()

    @Test("A locked database is reported once, and written when the lock is released")
    func locked() async throws {
        try await bench.prepare()
        let holder = try LockHolder(bench)
        let recorder = bench.recorder(patience: .milliseconds(10))
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        for number in 0..<3 {
            recorder.record(.reading(kind: "n", Reading("n", number)), in: session)
            let error = await #expect(throws: RecorderError.self) { try await recorder.flush() }
            #expect(error?.code == .locked)
        }
        #expect(bench.reports.state.count == 1)
        try holder.release()
        try await recorder.flush()
        #expect(bench.reports.state.last == .recovered(lost: 0))
        #expect(try bench.rows(.columns).map(\.last) == ["0", "1", "2"])
        #expect(await recorder.close() == RecorderTally(written: 4, lost: 0))
    }

    @Test("Records that cannot be written before closing are counted as lost")
    func lost() async throws {
        try await bench.prepare()
        let holder = try LockHolder(bench)
        let recorder = bench.recorder(patience: .milliseconds(10))
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        recorder.record(.event(kind: "manual", text: nil), in: session)
        #expect(await recorder.close() == RecorderTally(written: 0, lost: 2))
        guard case .failing(let error)? = bench.reports.state.first else { return #expect(Bool(false)) }
        #expect(error.code == .locked)
        #expect("\(error)".contains(bench.path))
        try holder.release()
    }

    @Test("Recording does not block while the database is locked")
    func neverBlocks() async throws {
        try await bench.prepare()
        let holder = try LockHolder(bench)
        let recorder = bench.recorder(patience: .seconds(30), interval: .zero)
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        // The writer waits for the lock, which is released only after all of these were recorded.
        for number in 0..<50_000 { recorder.record(.reading(kind: "n", Reading("n", number)), in: session) }
        try holder.release()
        #expect(await recorder.close() == RecorderTally(written: 50_001, lost: 0))
        #expect(bench.reports.state == [])
    }

    @Test("A file at its size limit is reported as a full disk, and acknowledged records are kept")
    func fullDisk() async throws {
        try await bench.prepare()
        // The limit for the size of a file, in blocks of 512 bytes.
        let program = try await ChildProcess(
            ["/bin/sh", "-c", "ulimit -f 600; exec \"$0\" \"$@\"", Executable.recorderProbe, bench.path, "0"])
        _ = try await program.output.wait(for: "a record that is not kept") { text in
            String(decoding: text.bytes, as: UTF8.self).contains("not kept: full") ? true : nil
        }
        program.send(signal: SIGKILL)
        let said = try await program.ending().output.split(separator: "\n")
        #expect(said.filter { $0 == "failing full" }.count == 1)
        let acknowledged = said.compactMap { Int($0) }
        #expect(acknowledged.count > 10)
        let count: Int? = try bench.value("SELECT count(*) FROM telemetry")
        #expect(try #require(count) > acknowledged.max() ?? .max)
        #expect(try bench.value("PRAGMA integrity_check") == "ok")
    }

    @Test(
        "An unusable database is reported",
        arguments: [("no database", RecorderError.Code.damaged), ("newer", .newerSchema), ("a folder", .notPermitted)])
    func unusable(_ what: String, _ code: RecorderError.Code) async throws {
        try await bench.prepare()
        switch what {
        case "newer":
            let database = try DatabaseQueue(path: bench.path)
            try await database.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of 2030')") }
            try database.close()
        case "a folder":
            remove(bench.path)
            try bench.folder.makeFolder("data/record.sqlite")
        default:
            _ = bench.folder.write(String(repeating: "This is no database. ", count: 500), to: "data/record.sqlite")
        }
        let recorder = bench.recorder()
        let error = await #expect(throws: RecorderError.self) { try await recorder.flush() }
        #expect(error?.code == code)
        await recorder.close()
        #expect(bench.reports.state.count == 1)
    }

    @Test("A data folder that cannot be created is reported")
    func folder() async throws {
        let file = bench.folder.write("", to: "data")
        let recorder = bench.recorder()
        let error = await #expect(throws: RecorderError.self) { try await recorder.flush() }
        #expect(error?.path == file)
        await recorder.close()
    }

    @Test("A released folder lock is free, also while a forked process still has its descriptor")
    func inheritedLock() throws {
        let lock = try FolderLock(bench.folder.path, patience: .zero)
        let inherited = dup(lock.descriptor)
        defer { close(inherited) }
        #expect(throws: RecorderError.self) { try FolderLock(bench.folder.path, patience: .zero) }
        lock.release()
        try FolderLock(bench.folder.path, patience: .zero).release()
    }
}
