import Testing

// The simulator against our firmware, which is built to behave as the devices in the field do: the same script is played to both, and all that can be seen of them is compared.
@Suite("Bench: the simulator and the firmware are the same pump")
struct DifferentialTests {
    static let scripts = [1, 2].flatMap { thermistors in (3...4).map { (thermistors, UInt64($0)) } }

    @Test("What is said and done in a random script", arguments: scripts)
    func script(thermistors: Int, seed: UInt64) async throws {
        let script = PumpScript(seed: seed, count: 40)
        async let simulated = play(script, on: RigKind(pump: .simulator, thermistors: thermistors))
        let firmware = try await play(script, on: RigKind(pump: .fieldFirmware, thermistors: thermistors))
        for (index, (step, (simulator, firmware))) in zip(script.steps, zip(try await simulated, firmware)).enumerated()
        {
            let areAlike = simulator.isLike(firmware, askedFor: step.asks.statuses)
            // What comes behind a first difference mostly follows from it.
            try #require(areAlike, "step \(index): \(step)\nsimulator \(simulator)\nfirmware  \(firmware)")
        }
    }

    @Test(
        "A report that a reset cuts off is no difference; a banner that is is one",
        arguments: ["S", "STATUS:{State:ON,Runtime:0"])
    func cutReport(cut: String) {
        let motor = Motor(isEnabled: false, duty: 0)
        func record(_ acts: [String]) -> PumpRecord { PumpRecord(acts: acts, asks: [], motor: motor) }
        let whole = record(["====", "Ready", "===="])
        #expect(record([cut + "======", "Ready", "===="]).isLike(whole, askedFor: 0))
        #expect(!record([cut, "Ready", "===="]).isLike(whole, askedFor: 0))
        #expect(!record(["ON======", "Ready", "===="]).isLike(whole, askedFor: 0))
    }

    private func play(_ script: PumpScript, on kind: RigKind) async throws -> [PumpRecord] {
        var records: [PumpRecord] = []
        try await kind.run { records = try await script.play(on: $0) }
        return records
    }
}
