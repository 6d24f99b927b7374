import DeviceKit
import TestSupport
import Testing

/// Compares the simulator with our firmware for all kinds of bytes at all times.
///
/// `SEEDS=1234 swift test --filter StreamTests` compares one stream, and prints it if simulator and firmware differ.
@Suite("Bench: simulator and firmware answer with equal bytes at equal times")
struct StreamTests {
    static let seeds = Seeds(100, soak: 3_000)

    @Test(
        "Simulator and firmware handle streams of commands, fragments, bursts and noise equally",
        arguments: seeds.pieces(FirmwareSlots.count))
    func streams(seeds: Range<UInt64>) async throws {
        if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
        await FirmwareSlots.shared.take()
        let differences = try await withCleanup({ await FirmwareSlots.shared.giveBack() }) {
            try await Self.play(seeds)
        }
        if !differences.isEmpty { Issue.record(Comment(rawValue: differences.joined(separator: "\n"))) }
    }

    /// Returns the differences, with their seeds.
    private static func play(_ seeds: Range<UInt64>) async throws -> [String] {
        // Streams of even seeds are played to firmware with one thermistor, streams of odd seeds to firmware with two.
        let players = [
            try await StreamPlayer(thermistors: 1, isField: true),
            try await StreamPlayer(thermistors: 2, isField: true),
        ]
        var differences: [String] = []
        for seed in seeds {
            let thermistors = 1 + Int(seed % 2)
            let player = players[thermistors - 1]
            let stream = PumpStream(seed: seed)
            let played = try await player.play(stream)
            let comparison = StreamComparison(stream, played, begin: player.begin, thermistors: thermistors)
            if let difference = comparison.difference() {
                differences.append("seed \(seed): \(difference)")
                if Self.seeds.isSingle { differences.append(stream.script) }
            }
        }
        for player in players { await player.stop() }
        return differences
    }
}
