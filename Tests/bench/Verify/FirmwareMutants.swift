import Foundation
import TestSupport

@testable import Verification

/// A firmware of the pump with one operator, constant or branch changed, by `mutants/mutants.py`.
struct FirmwareMutant: Sendable {
    var number: Int
    /// The change and its place.
    var change: String
    /// The reason why it may survive, from `mutants/survivors.txt`; nil if it must not.
    var excuse: String?

    struct Failed: Error { var output: String }

    private static let script = FirmwareBuild.sources + "/Tests/bench/mutants/mutants.py"

    /// Returns all mutants.
    ///
    /// - Parameter seed: The seed for shuffling them; nil for the order of the sources.
    static func all(seed: String?) async throws -> [FirmwareMutant] {
        let output = try await run(["plan"] + (seed.map { ["--seed", $0] } ?? []))
        return output.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let number = Int(parts[0]) else { return nil }
            return FirmwareMutant(number: number, change: parts[2], excuse: parts[1].isEmpty ? nil : parts[1])
        }
    }

    /// The result of verifying a mutant.
    enum Fate: Sendable, Equatable {
        /// The check or the reason.
        case killed(by: String)
        case survived
        case doesNotBuild
        /// The compiled code equals that of the firmware.
        case sameCode
    }

    /// Builds the mutant and verifies it up to the first check that fails.
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

    /// Whether the firmware's unit tests find the mutant.
    func isSeenByUnitTests() async throws -> Bool {
        let folder = TemporaryFolder()
        return try await Self.run(["unit", "\(number)", folder.path("mutant")]) == "killed\n"
    }

    /// Returns the check that fails, or another sign of the flaw; nil if there is none.
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

    /// The quick checks first, because most mutants fail one of them.
    private static let checks: [Check] = {
        let slow = [
            "pump.knob.hysteresis", "pump.knob.only-moved", "pump.off.silence", "pump.unasked.status",
            "pump.unasked.beat", "pump.on.restarts-timer", "pump.status.minutes", "pump.safety.thirty-minutes",
        ]
        let all = FamilyVerification.pump.checks
        return all.filter { !slow.contains($0.id) } + slow.compactMap { id in all.first { $0.id == id } }
    }()

    private final class Box: @unchecked Sendable {
        // @unchecked: used only on the thread of the verification.
        var check: String?
    }

    private static func run(_ arguments: [String]) async throws -> String {
        let ending = try await ChildProcess(["python3", "-B", script] + arguments).ending(within: .seconds(300))
        guard ending.status == 0 else { throw Failed(output: ending.output + ending.errors) }
        return ending.output
    }
}
