import Glibc
import RecordFormat
import Recorder
import TestSupport
import Testing

/// Programs that record and are killed.
@Suite("Recorder killed", .serialized, .timeLimit(.minutes(5)))
struct CrashTests {
    private let bench = RecordBench()

    /// Starts a program that records numbers from `first` on, and prints those that were acknowledged.
    private func start(from first: Int) async throws -> ChildProcess {
        try await ChildProcess([Executable.recorderProbe, bench.path, "\(first)"])
    }

    /// Waits for the first acknowledgement, and for some more.
    private func acknowledged(_ count: Int, _ program: ChildProcess) async throws {
        _ = try await program.output.wait(for: "\(count) acknowledgements") { text in
            text.bytes.count { $0 == 0x0A } >= count ? true : nil
        }
    }

    @Test("200 times kill -9 at any moment: nothing that was acknowledged is lost, and the database is whole")
    func killed() async throws {
        var random = SplitMix64(seed: 7)
        var expected: Set<Int> = []
        // Four at a time record into the one database, and each of them is killed in the midst of the others' writing.
        for round in 0..<50 {
            var programs: [ChildProcess] = []
            for index in 0..<4 { programs.append(try await start(from: (round * 4 + index) * 1_000_000)) }
            for program in programs { try await acknowledged(Int.random(in: 1...4, using: &random), program) }
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 0..<3_000_000, using: &random))
            nanosleep(&pause, nil)
            for (index, program) in programs.enumerated() {
                program.send(signal: SIGKILL)
                let numbers = try await program.ending().output.split(separator: "\n").compactMap { Int($0) }
                let first = (round * 4 + index) * 1_000_000
                if let last = numbers.max() { expected.formUnion(first...last) }
            }
        }
        let kept = Set(try bench.rows(.columns).compactMap { Int($0[6]) })
        #expect(expected.count > 2000)
        #expect(expected.subtracting(kept) == [])
        #expect(try bench.value("PRAGMA integrity_check") == "ok")
        let orphans: Int? = try bench.value(
            "SELECT count(*) FROM telemetry WHERE session_id NOT IN (SELECT id FROM sessions)")
        #expect(orphans == 0)
    }

    @Test("Two programs that begin one database at the same time both record into it")
    func twoAtOnce() async throws {
        let programs = [try await start(from: 0), try await start(from: 1_000_000)]
        for program in programs { try await acknowledged(20, program) }
        for program in programs {
            program.send(signal: SIGKILL)
            #expect(try await !program.ending().output.contains("not kept"))
        }
        #expect(try bench.rows(.sessions).map { Int($0[7]) ?? 0 }.allSatisfy { $0 >= 200 })
    }
}

/// Random numbers that are the same each time (Steele, Lea, Flood 2014).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
