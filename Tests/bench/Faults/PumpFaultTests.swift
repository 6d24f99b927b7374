import FirmwareSim
import LineProtocol
import Testing

@Suite("A session with a pump that has faults", .timeLimit(.minutes(5)))
struct PumpFaultTests {
    private static let seeds = 1...100 as ClosedRange<UInt64>

    /// What became of the four commands of each seed.
    private struct Outcomes {
        var done = 0
        /// The session said that it failed.
        var reported = 0
        /// It is not so, though that was delivered: as where the board resets behind the last letter of its answer.
        var undetectable = 0

        var text: String { "done \(done), reported \(reported), undetectable \(undetectable)" }
    }

    @Test(
        "Never calls a change done that was not told to be, nor shows a state that was not, and comes to an end",
        arguments: [
            ("corrupt@20%", "done 337, reported 63, undetectable 0"),
            ("delay@20%", "done 400, reported 0, undetectable 0"),
            ("delay=5s@20%", "done 215, reported 185, undetectable 0"),
            ("drain@always", "done 400, reported 0, undetectable 0"),
            ("drift", "done 400, reported 0, undetectable 0"),
            ("drift=-2%", "done 400, reported 0, undetectable 0"),
            ("drop@20%", "done 371, reported 29, undetectable 0"),
            ("duplicate@20%", "done 396, reported 4, undetectable 0"),
            ("join@always", "done 400, reported 0, undetectable 0"),
            ("noise@20%", "done 333, reported 67, undetectable 0"),
            ("overrun@20%", "done 320, reported 80, undetectable 0"),
            ("reset@10%", "done 316, reported 72, undetectable 12"),
            ("silence@10%", "done 281, reported 119, undetectable 0"),
            ("silence=2s@20%", "done 276, reported 124, undetectable 0"),
            ("split@always", "done 400, reported 0, undetectable 0"),
            ("corrupt@10%,drop@10%,duplicate@10%,split@20%,overrun@10%", "done 341, reported 59, undetectable 0"),
        ])
    func honest(faults: String, expected: String) throws {
        var outcomes = Outcomes()
        for seed in Self.seeds {
            let pump = try FaultyPump(faults: faults, seed: seed)
            try Self.change(pump, "on", seed, &outcomes) { session throws(SessionError) in
                try await session.turnOn()
            } isTold: {
                $0.contains("PUMP:ON")
            } isSo: {
                $0.state == .on
            }
            let speed = try #require(PumpSpeed(pwm: 200))
            try Self.change(pump, "speed", seed, &outcomes) { session throws(SessionError) in
                try await session.setSpeed(speed)
            } isTold: {
                $0.contains("SPEED:200")
            } isSo: {
                $0.duty == 200
            }
            try Self.readStatus(pump, seed, &outcomes)
            try Self.change(pump, "off", seed, &outcomes) { session throws(SessionError) in
                try await session.turnOff()
            } isTold: {
                // The status that is asked for then, behind a fence, tells it too.
                $0.contains("PUMP:OFF") || $0.last { $0.hasPrefix("STATUS:") }?.contains("State:OFF") == true
            } isSo: {
                $0.state == .off
            }
            pump.close()
        }
        #expect(outcomes.text == expected)
    }

    /// - Parameters:
    ///   - isTold: Whether the lines that were delivered tell that it is done.
    ///   - isSo: Whether it is.
    private static func change(
        _ pump: FaultyPump, _ name: String, _ seed: UInt64, _ outcomes: inout Outcomes,
        _ body: @escaping @Sendable (PumpSession) async throws(SessionError) -> Void,
        isTold: ([Substring]) -> Bool, isSo: (PumpFirmware) -> Bool
    ) throws {
        guard case .success = try pump.perform(body) else { return outcomes.reported += 1 }
        #expect(isTold(pump.lines), "\(name), seed \(seed): \(pump.lines)")
        if isSo(pump.device.device) { outcomes.done += 1 } else { outcomes.undetectable += 1 }
    }

    private static func readStatus(_ pump: FaultyPump, _ seed: UInt64, _ outcomes: inout Outcomes) throws {
        let result = try pump.perform { session throws(SessionError) in try await session.readStatus() }
        guard case .success(let status) = result, status.power != .unknown else { return outcomes.reported += 1 }
        let state = status.power.rawValue.uppercased()
        #expect(
            pump.lines.contains { $0.hasPrefix("STATUS:{") && $0.contains("State:\(state)") },
            "status, seed \(seed): \(pump.lines)")
        if pump.device.device.state.rawValue == state { outcomes.done += 1 } else { outcomes.undetectable += 1 }
    }
}
