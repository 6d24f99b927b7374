import Foundation
import TestSupport
import Testing

/// Ten thousand programs that end with OFF, on a pump and a line that do all that such things do.
///
/// `OFF_SEED=1234 swift test --filter OffAttackTests` plays one of them and prints what happened.
@Suite("Bench: OFF gets through, and what is said of it is true")
struct OffAttackTests {
    /// The seeds, in pieces that run at once; only the one that is asked for where one is.
    static let chunks: [Range<UInt64>] = {
        if let seed = onlySeed { return [seed..<seed + 1] }
        return (0..<40).map { $0 * 250..<($0 + 1) * 250 }
    }()

    private static let onlySeed = ProcessInfo.processInfo.environment["OFF_SEED"].flatMap { UInt64($0) }

    @Test("Programs in simulated time", arguments: chunks)
    func programs(seeds: Range<UInt64>) async throws {
        let failed = try await onThread {
            seeds.compactMap { seed -> (summary: String, transcript: String)? in
                let (failures, transcript) = OffRun.play(seed: seed)
                if Self.onlySeed != nil { print(transcript.text) }
                return failures.isEmpty ? nil : ("seed \(seed): \(failures)", transcript.text)
            }
        }
        guard let first = failed.first else { return }
        let summaries = failed.map(\.summary).joined(separator: "\n")
        Issue.record(Comment(rawValue: "\(summaries)\nThe first of them:\n\(first.transcript)"))
    }
}
