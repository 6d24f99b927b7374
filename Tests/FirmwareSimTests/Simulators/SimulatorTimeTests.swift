import FirmwareSim
import Testing

@Suite("Typed times")
struct SimulatorTimeTests {
    @Test(
        "A time has a unit, or is in seconds",
        arguments: [
            ("500ms", Duration.milliseconds(500)), ("90", .seconds(90)), ("90s", .seconds(90)), ("1.5m", .seconds(90)),
            ("2h", .seconds(7200)), ("1000000", .seconds(1_000_000)),
        ])
    func times(text: String, time: Duration) {
        #expect(SimulatorOption.time(text) == time)
    }

    @Test(
        "A time of 0, above 1,000,000 s or in another form is refused",
        arguments: [
            "", "s", "0", "-1s", "x", "1d", "nan", "inf", "1000001", "300h", "1 s", "1e-20s",
        ])
    func noTimes(text: String) {
        #expect(SimulatorOption.time(text) == nil)
    }
}
