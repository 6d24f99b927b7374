import Foundation
import TestSupport

@testable import Verification

/// Our pump firmware with one operator, constant or branch changed by `mutants/mutants.py`.
struct FirmwareMutant: Sendable {
    /// The number by which the script knows the mutant.
    var number: Int
    /// The file, the function, and the changed line before and after the change.
    var change: String
    /// The reason from `mutants/survivors.txt` why no check fails; nil if a check must fail.
    var excuse: String?

    /// The script failed.
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
        /// `by` is the ID of the failed check, or another sign of the change, such as an error.
        case killed(by: String)
        case survived
        case doesNotBuild
        /// The compiled code equals that of the firmware.
        case sameCode
    }

    /// Builds the mutant, and verifies each variant of the firmware that it changes, up to the first failed check.
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

    /// Verifies a firmware; returns the ID of the first failed check, or another sign of a flaw; nil if there is none.
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
