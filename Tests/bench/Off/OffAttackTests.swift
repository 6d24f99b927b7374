import Foundation
import TestSupport
import Testing

/// Ten thousand programs that end with OFF, on a pump and a line that do all that such things do.
///
/// `OFF_SEED=1234 swift test --filter OffAttackTests` plays one of them and prints what happened.
@Suite("Bench: OFF gets through, and what is said of it is true")
struct OffAttackTests {
    static let runsInChunk = 250

    static let chunks = 0..<40

    @Test("Programs in simulated time", arguments: chunks)
    func programs(chunk: Int) async throws {
        let failed = try await onThread {
            (0..<Self.runsInChunk).compactMap { index -> (summary: String, transcript: String)? in
                let seed = UInt64(chunk * Self.runsInChunk + index)
                let (failures, transcript) = OffRun.play(seed: seed)
                return failures.isEmpty ? nil : ("seed \(seed): \(failures)", transcript.text)
            }
        }
        guard let first = failed.first else { return }
        let summaries = failed.map(\.summary).joined(separator: "\n")
        Issue.record(Comment(rawValue: "\(summaries)\nThe first of them:\n\(first.transcript)"))
    }

    @Test("The program of one seed", .enabled(if: ProcessInfo.processInfo.environment["OFF_SEED"] != nil))
    func one() async throws {
        let seed = try #require(ProcessInfo.processInfo.environment["OFF_SEED"].flatMap { UInt64($0) })
        let (failures, text) = try await onThread {
            let (failures, transcript) = OffRun.play(seed: seed)
            return (failures, transcript.text)
        }
        print(text)
        #expect(failures.isEmpty)
    }
}
