import TestSupport
import Testing

/// Programs that end with OFF, with a pump and a line that show every known fault.
///
/// `SEEDS=1234 swift test --filter OffAttackTests` plays one program and prints its course.
@Suite("Bench: OFF despite faults of the pump and the line")
struct OffAttackTests {
    static let seeds = Seeds(2_000, soak: 10_000)

    @Test("OFF gets through despite faults, and each report about it is true", arguments: seeds.pieces(8))
    func programs(seeds: Range<UInt64>) async throws {
        let failed = try await onThread {
            seeds.compactMap { seed -> (summary: String, transcript: String)? in
                let (failures, transcript) = OffRun.play(seed: seed)
                if Self.seeds.isSingle { print(transcript.text) }
                return failures.isEmpty ? nil : ("seed \(seed): \(failures)", transcript.text)
            }
        }
        guard let first = failed.first else { return }
        let summaries = failed.map(\.summary).joined(separator: "\n")
        Issue.record(Comment(rawValue: "\(summaries)\nThe first of them:\n\(first.transcript)"))
    }
}
