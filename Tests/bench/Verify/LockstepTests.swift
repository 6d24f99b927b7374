import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@testable import Verification

@Suite("Bench: verification of firmware in simulated time", .timeLimit(.minutes(20)))
struct LockstepTests {
    /// Runs `body` with our firmware on an emulated Nano, on a separate thread; returns its result.
    private func onBoard<Value: Sendable>(
        thermistors: Int, isField: Bool, _ body: @escaping @Sendable (BoardWorld) throws -> Value
    ) async throws -> Value {
        if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
        try await FirmwareBuild.ready()
        let firmware = FirmwareBuild.firmware(thermistors: thermistors, isField: isField)
        await FirmwareSlots.shared.take()
        return try await withCleanup({ await FirmwareSlots.shared.giveBack() }) {
            try await onThread {
                try body(try BoardWorld(firmware: firmware))
            }
        }
    }

    /// The outcome of a verification, and observations of its board.
    private struct Seen: Sendable {
        var outcome: BoardWorld.Outcome
        /// The verification's writes to the board.
        var written: [String]
        /// The motor's duty after the verification.
        var duty: String
        /// The motor's duty when the verification was interrupted; nil in tests that do not interrupt.
        var dutyBefore: String?
    }

    @Test("Our firmware passes every check, also in two rounds", arguments: [1, 2], [false, true])
    func passes(thermistors: Int, isField: Bool) async throws {
        // One of the four builds is enough for two rounds, which take twice the time.
        let rounds = thermistors == 2 && isField ? 2 : 1
        let seen = try await onBoard(thermistors: thermistors, isField: isField) { world in
            let outcome = try world.verify(rounds: rounds)
            return Seen(outcome: outcome, written: world.written, duty: try world.duty())
        }
        let verdict = try #require(seen.outcome.verdict, "\(seen.outcome)")
        for result in verdict.results where result.outcome != .passed {
            Issue.record("\(result.id): \(result.outcome), sent \(result.sent), received \(result.received)")
        }
        #expect(verdict.results.count == FamilyVerification.pump.checks.count * rounds)
        let isPassed = verdict.isPassed
        #expect(isPassed, "\(verdict.ending)")
        #expect(verdict.aftermath == .safe)
        #expect(seen.duty == "0")
        // Milliseconds of the board's time, which no other program can affect. A turn of the firmware's main loop takes
        // some 109 ms, and a running pump sends its status every 5 s.
        let period = try #require(verdict.timings.summary(of: .loopPeriod))
        #expect((107...111).contains(period.median))
        let beat = try #require(verdict.timings.summary(of: .statusInterval))
        #expect((4850...5150).contains(beat.median))
    }

    @Test("A verification in simulated time is deterministic")
    func isDeterministic() async throws {
        let ids = ["pump.status.reply", "pump.line.longest", "pump.loop.period", "pump.button.on", "pump.boot.banner"]
        let checks = FamilyVerification.pump.checks.filter { ids.contains($0.id) }
        var transcripts: [[String]] = []
        for _ in 1...2 {
            transcripts.append(
                try await onBoard(thermistors: 2, isField: false) { world in
                    try world.verify(checks: checks).verdict?.results.map { "\($0.id) \($0.steps) \($0.time ?? .zero)" }
                        ?? []
                })
        }
        #expect(transcripts[0].count == ids.count)
        #expect(transcripts[0] == transcripts[1])
    }

    @Test("A running pump is sent only STATUS, is not verified, and keeps running", arguments: [false, true])
    func running(isField: Bool) async throws {
        let seen = try await onBoard(thermistors: 2, isField: isField) { world in
            try world.board.send(Array("ON\n".utf8))
            world.rest(for: .milliseconds(500))
            let outcome = try world.verify()
            return Seen(outcome: outcome, written: world.written, duty: try world.duty())
        }
        #expect(seen.outcome.error as? VerificationError == .running)
        #expect(seen.written == ["STATUS\n"])
        #expect(seen.duty == "180")
    }

    @Test("An interrupted verification leaves the pump off", arguments: [false, true])
    func interrupted(isField: Bool) async throws {
        let checks = FamilyVerification.pump.checks.filter { ["pump.on.reply", "pump.unasked.status"].contains($0.id) }
        let seen = try await onBoard(thermistors: 1, isField: isField) { world in
            // After 4 s the second check waits for reports of the running pump.
            var duty: String?
            world.loop.at(world.loop.now + .seconds(4)) {
                duty = try? world.duty()
                world.cancel()
            }
            let outcome = try world.verify(checks: checks)
            return Seen(outcome: outcome, written: world.written, duty: try world.duty(), dutyBefore: duty)
        }
        let verdict = try #require(seen.outcome.verdict)
        #expect(seen.dutyBefore == "180")
        if case .interrupted = verdict.ending {} else { Issue.record("\(verdict.ending)") }
        #expect(verdict.passedCount == 1 && verdict.skippedCount == 1)
        #expect(verdict.aftermath == .safe)
        #expect(seen.duty == "0")
    }
}
