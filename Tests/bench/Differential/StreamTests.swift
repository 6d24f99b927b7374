import Foundation
import Testing

/// The simulator against our firmware, over bytes of all kinds that come at any moment.
///
/// `STREAM_SEED=1234 swift test --filter StreamTests` compares one stream, `STREAM_SEED=0-9999` as many.
@Suite("Bench: the simulator and the firmware answer alike, byte by byte and at the same time")
struct StreamTests {
    /// The seeds, in pieces that run at once.
    static let chunks: [Range<UInt64>] = {
        let asked = ProcessInfo.processInfo.environment["STREAM_SEED"].map {
            $0.split(separator: "-").map { UInt64($0) }
        }
        let first = asked?.first.flatMap { $0 } ?? 0
        let last = asked == nil ? 299 : asked?.last.flatMap { $0 } ?? first
        let size = max(75, (last + 1 - first + 7) / 8)
        return stride(from: first, through: last, by: Int(size)).map { $0..<min(last + 1, $0 + size) }
    }()

    @Test("Streams of commands, halves of them, bursts and noise", arguments: chunks)
    func streams(seeds: Range<UInt64>) async throws {
        if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
        await FirmwareSlots.shared.take()
        let differences: [String]
        do { differences = try await Self.play(seeds) } catch {
            await FirmwareSlots.shared.giveBack()
            throw error
        }
        await FirmwareSlots.shared.giveBack()
        if !differences.isEmpty { Issue.record(Comment(rawValue: differences.joined(separator: "\n"))) }
    }

    /// What differs, with the seeds.
    private static func play(_ seeds: Range<UInt64>) async throws -> [String] {
        // Each chunk has one make of firmware, and each make has chunks.
        let thermistors = 2 - Int(seeds.lowerBound / UInt64(max(1, seeds.count)) % 2)
        let player = try await StreamPlayer(thermistors: thermistors, isField: true)
        var differences: [String] = []
        for seed in seeds {
            let stream = PumpStream(seed: seed)
            let played = try await player.play(stream)
            let comparison = StreamComparison(stream, played, begin: player.begin, thermistors: thermistors)
            if let difference = comparison.difference() {
                differences.append("seed \(seed): \(difference)")
                if seeds.count == 1 { differences.append(stream.script) }
            }
        }
        await player.stop()
        return differences
    }
}
