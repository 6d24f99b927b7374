import TestSupport
import Testing

@Suite("Bench: OFF over a faulty wire to our firmware")
struct OffFirmwareTests {
    static let seeds = Seeds(60, soak: 200)

    /// Programs of even seeds run on firmware with one thermistor, programs of odd seeds on firmware with two.
    @Test("OFF gets through a faulty wire to our firmware", arguments: seeds.pieces(FirmwareSlots.count), [1, 2])
    func programs(seeds: Range<UInt64>, thermistors: Int) async throws {
        let seeds = seeds.filter { Int($0 % 2) == thermistors - 1 }
        guard !seeds.isEmpty else { return }
        try await RigKind(pump: .firmware, thermistors: thermistors).run { rig in
            let failures = try await OffFirmwareRun.play(seeds: seeds, on: rig)
            if !failures.isEmpty { Issue.record(Comment(rawValue: failures.joined(separator: "\n"))) }
        }
    }
}
