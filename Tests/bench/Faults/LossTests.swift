import FirmwareSim
import Testing

@Suite("Hosts that lose their link, in simulated time", .timeLimit(.minutes(5)))
struct LossTests {
    /// Runs the script of a pump without other faults, while the cable is unplugged at `time` for `length`.
    private static func followed(
        _ time: Duration, for length: Duration
    ) throws -> (world: WireWorld<Overheard<PumpFirmware>>, outcomes: [Outcome]) {
        let world = WireWorld(Overheard(PumpFirmware(options: .matrix)), faults: [], seed: 1)
        world.unplug(at: time, for: length)
        let outcomes = try #require(
            try world.run(PumpFaultScript.self, seed: 1) { PumpFaultScript.Truth($0) })
        return (world, outcomes)
    }

    @Test("A follower of a pump reconnects after an unplugging") func follows() throws {
        let outcomes = try Self.followed(.seconds(5), for: .seconds(3)).outcomes
        #expect(outcomes == [.done, .done, .done, .done, .done, .done, .recovered])
    }

    @Test("A command during a lost link fails, and the next ones use a new link") func commands()
        throws
    {
        // After 50 ms the reply to the first query is still due: it takes one turn of the pump's main loop.
        let outcomes = try Self.followed(.milliseconds(50), for: .seconds(2)).outcomes
        #expect(outcomes.first == .reported)
        #expect(outcomes.dropFirst() == [.done, .done, .done, .done, .done, .done])
    }
}
