import Glibc
import RecordFormat
import Recorder
import TestSupport
import Testing

/// Runs recorder-probe several times on one database, and kills it while it records.
@Suite("Crashes of recording programs", .serialized, .timeLimit(.minutes(60)))
struct CrashTests {
    private let bench = RecordBench()

    /// Starts a program that records numbers from `first` on, and prints every tenth number when it is stored.
    private func start(from first: Int) async throws -> ChildProcess {
        try await ChildProcess([Executable.recorderProbe, bench.path, "\(first)"])
    }

    /// Waits until the program has printed `count` lines.
    private func acknowledged(_ count: Int, _ program: ChildProcess) async throws {
        _ = try await program.output.wait(for: "\(count) acknowledgements") { text in
            text.bytes.count { $0 == 0x0A } >= count ? true : nil
        }
    }

    @Test("After kill -9 at any moment every acknowledged record is in an intact database")
    func killed() async throws {
        let seeds = Array(Seeds(51, soak: 1_000))
        // Three programs at a time record into one database, and each is killed while the others write.
        let acknowledged = try await withThrowingTaskGroup(of: [[Int]].self) { group in
            for lane in 0..<3 {
                group.addTask {
                    try await self.killed(seeds.enumerated().filter { $0.offset % 3 == lane })
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(acknowledged.count == seeds.count)
        #expect(try bench.value("PRAGMA integrity_check") == "ok")

        let readings = Set(try bench.rows(.columns).compactMap { Int($0[6]) })
        let recorded = acknowledged.joined().flatMap { $0 - 9...$0 }
        #expect(Set(recorded).subtracting(readings) == [])
        var statuses: [Int: StoredMessage.Status] = [:]
        try RecordReader(bench.path).readMessages { statuses[Int($0.id) ?? 0] = $0.status }
        // The program stores every tenth number as a message too, and marks the previous message as synced.
        for messages in acknowledged {
            #expect(messages.allSatisfy { statuses[$0] != nil }, "\(messages)")
            #expect(messages.dropLast().allSatisfy { statuses[$0] == .synced }, "\(messages)")
        }
        let orphans: Int? = try bench.value(
            "SELECT count(*) FROM telemetry WHERE session_id NOT IN (SELECT id FROM sessions)")
        #expect(orphans == 0)
    }

    /// Starts a program for each of the seeds in turn, and kills it at a moment given by its seed.
    ///
    /// - Returns: The numbers that each program reported as stored. Each stands for itself and the nine before it.
    private func killed(_ seeds: [(offset: Int, element: UInt64)]) async throws -> [[Int]] {
        var all: [[Int]] = []
        for (number, seed) in seeds {
            var random = SplitMix64(seed: seed)
            let first = number * 1_000_000
            let program = try await start(from: first)
            try await acknowledged(Int.random(in: 1...4, using: &random), program)
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 0..<3_000_000, using: &random))
            nanosleep(&pause, nil)
            program.send(signal: SIGKILL)
            // The program reports a failure to store, such as a locked database, in another form.
            all.append(try await program.ending().output.split(separator: "\n").compactMap { Int($0) })
        }
        return all
    }

    @Test("Two programs that create one database at the same time both record into it")
    func twoAtOnce() async throws {
        let programs = [try await start(from: 0), try await start(from: 1_000_000)]
        for program in programs { try await acknowledged(20, program) }
        for program in programs {
            program.send(signal: SIGKILL)
            #expect(try await !program.ending().output.contains("not kept"))
        }
        // Each of the 20 lines stands for ten readings.
        let counts = try bench.rows(.sessions).map { Int($0[7]) ?? 0 }
        #expect(counts.count == 2 && counts.allSatisfy { $0 >= 200 }, "\(counts)")
    }
}
