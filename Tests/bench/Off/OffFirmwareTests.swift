import Testing

@Suite("Bench: OFF gets through to the firmware")
struct OffFirmwareTests {
    static let runsOnBoard: UInt64 = 25

    @Test("Programs on our firmware in simavr", arguments: 0..<8)
    func programs(chunk: UInt64) async throws {
        let seeds = chunk * Self.runsOnBoard..<(chunk + 1) * Self.runsOnBoard
        try await RigKind(pump: .firmware, thermistors: chunk % 2 == 0 ? 1 : 2).run { rig in
            let failures = try await OffFirmwareRun.play(seeds: seeds, on: rig)
            if !failures.isEmpty { Issue.record(Comment(rawValue: failures.joined(separator: "\n"))) }
        }
    }
}
