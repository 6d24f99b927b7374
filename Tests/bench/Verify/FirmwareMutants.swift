import Foundation
import TestSupport

@testable import Verification

/// A firmware of the pump with one operator, constant or branch changed, by `mutants/mutants.py`.
struct FirmwareMutant: Sendable {
    var number: Int
    /// What is changed, and where.
    var change: String
    /// Why it may survive, by `mutants/survivors.txt`; nil where it must not.
    var excuse: String?

    struct Failed: Error { var output: String }

    private static let script = FirmwareBuild.sources + "/Tests/bench/mutants/mutants.py"

    /// All mutants.
    ///
    /// - Parameter seed: What they are shuffled by; nil for the order of the sources.
    static func all(seed: String?) async throws -> [FirmwareMutant] {
        let output = try await run(["plan"] + (seed.map { ["--seed", $0] } ?? []))
        return output.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let number = Int(parts[0]) else { return nil }
            return FirmwareMutant(number: number, change: parts[2], excuse: parts[1].isEmpty ? nil : parts[1])
        }
    }

    /// What became of a mutant.
    enum Fate: Sendable, Equatable {
        /// By that check, or for that reason.
        case killed(by: String)
        case survived
        case doesNotBuild
        /// The compiler makes the same of it as of the firmware.
        case sameCode
    }

    /// Builds it and has it verified, up to the first check that fails.
    func fate() async throws -> Fate {
        let folder = TemporaryFolder()
        let lines = try await Self.run(["build", "\(number)", folder.path("mutant")])
            .split(separator: "\n").map(String.init)
        if lines == ["fails"] { return .doesNotBuild }
        if lines == ["same"] { return .sameCode }
        for firmware in lines {
            if let killer = try await onThread({ try Self.killer(of: firmware) }) { return .killed(by: killer) }
        }
        return .survived
    }

    /// Whether the firmware's unit tests find it.
    func isSeenByUnitTests() async throws -> Bool {
        let folder = TemporaryFolder()
        return try await Self.run(["unit", "\(number)", folder.path("mutant")]) == "killed\n"
    }

    /// The check that fails, or how else it is found; nil where all is well.
    private static func killer(of firmware: String) throws -> String? {
        let failed = Box()
        let outcome: BoardWorld.Outcome
        do {
            outcome = try BoardWorld(firmware: firmware).verify(checks: checks) { result in
                if result.isFailure { failed.check = failed.check ?? result.id }
                return !result.isFailure
            }
        } catch let refusal as SteppedBoard.Refused {
            return "the board: \(refusal.line): \(refusal.answer ?? "it has ended")"
        }
        if let check = failed.check { return check }
        if let error = outcome.error { return "\(error)" }
        guard let verdict = outcome.verdict else { return "no verdict: \(outcome.ending)" }
        if !verdict.isPassed { return "\(verdict.ending)" }
        if verdict.aftermath != .safe { return "\(verdict.aftermath)" }
        return verdict.skippedCount > 0 ? "a check was skipped" : nil
    }

    /// The quick ones first: most mutants fail one of them.
    private static let checks: [Check] = {
        let slow = [
            "pump.knob.hysteresis", "pump.knob.only-moved", "pump.off.silence", "pump.unasked.status",
            "pump.unasked.beat", "pump.on.restarts-timer", "pump.status.minutes", "pump.safety.thirty-minutes",
        ]
        let all = FamilyVerification.pump.checks
        return all.filter { !slow.contains($0.id) } + slow.compactMap { id in all.first { $0.id == id } }
    }()

    private final class Box: @unchecked Sendable {
        // @unchecked: touched by the thread only that the verification runs on.
        var check: String?
    }

    private static func run(_ arguments: [String]) async throws -> String {
        let ending = try await ChildProcess(["python3", "-B", script] + arguments).ending(within: .seconds(300))
        guard ending.status == 0 else { throw Failed(output: ending.output + ending.errors) }
        return ending.output
    }
}
