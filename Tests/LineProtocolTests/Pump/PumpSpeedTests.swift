import LineProtocol
import Testing

@Suite("A pump speed")
struct PumpSpeedTests {
    @Test("shows the whole percent that the firmware shows", arguments: 0...255)
    func showsPercent(pwm: Int) throws {
        let speed = try #require(PumpSpeed(pwm: pwm))
        #expect(Int(speed.pwm) == pwm)
        // floor(pwm * 100 / 255), without a division.
        #expect(speed.percent * 255 <= pwm * 100)
        #expect((speed.percent + 1) * 255 > pwm * 100)
    }

    @Test(
        "knows the values of the field",
        arguments: [(0, 0), (2, 0), (3, 1), (180, 70), (200, 78), (254, 99), (255, 100)])
    func knowsValues(pwm: Int, percent: Int) {
        #expect(PumpSpeed(pwm: pwm)?.percent == percent)
    }

    @Test("comes back to the same percent, as the smallest duty that does", arguments: 0...100)
    func roundTripsPercent(percent: Int) throws {
        let speed = try #require(PumpSpeed(percent: percent))
        #expect(speed.percent == percent)
        if let smaller = PumpSpeed(pwm: Int(speed.pwm) - 1) { #expect(smaller.percent < percent) }
    }

    @Test("can't be outside 0 to 255", arguments: [-1, 256, 436, Int.min, Int.max])
    func refusesDuty(pwm: Int) {
        #expect(PumpSpeed(pwm: pwm) == nil)
    }

    @Test("can't be outside 0 to 100 percent", arguments: [-1, 101, 255, Int.min, Int.max])
    func refusesPercent(percent: Int) {
        #expect(PumpSpeed(percent: percent) == nil)
    }

    @Test("starts at 180, 70 %")
    func startsAt180() {
        #expect(PumpSpeed.initial.pwm == 180)
        #expect(PumpSpeed.initial.percent == 70)
    }

    @Test("is ordered by its duty")
    func isOrdered() throws {
        let speeds = try (0...255).map { try #require(PumpSpeed(pwm: $0)) }
        #expect(speeds.shuffled().sorted() == speeds)
    }

    @Test(
        "is read as a person writes it",
        arguments: [
            ("0", 0), ("200", 200), ("255", 255), ("0%", 0), ("60%", 153), ("100%", 255), ("007", 7), ("256", nil),
            ("101%", nil), ("", nil), ("%", nil), ("-1", nil), ("+1", nil), ("1.5", nil), (" 1", nil), ("٣", nil),
            ("fast", nil), ("99999999999999999999", nil),
        ] as [(String, UInt8?)])
    func readsText(text: String, pwm: UInt8?) {
        #expect(PumpSpeed(text)?.pwm == pwm)
    }
}
