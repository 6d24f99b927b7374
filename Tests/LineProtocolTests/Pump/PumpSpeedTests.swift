import LineProtocol
import Testing

@Suite("Pump speeds")
struct PumpSpeedTests {
    @Test("The percentage of a duty is rounded down, as in the firmware", arguments: 0...255)
    func showsPercent(pwm: Int) throws {
        let speed = try #require(PumpSpeed(pwm: pwm))
        #expect(Int(speed.pwm) == pwm)
        // `percent` is floor(pwm * 100 / 255), checked without a division.
        #expect(speed.percent * 255 <= pwm * 100)
        #expect((speed.percent + 1) * 255 > pwm * 100)
    }

    @Test(
        "Duties at the ends of the range and near a whole percent have the right percentage",
        arguments: [(0, 0), (2, 0), (3, 1), (180, 70), (200, 78), (254, 99), (255, 100)])
    func knowsValues(pwm: Int, percent: Int) {
        #expect(PumpSpeed(pwm: pwm)?.percent == percent)
    }

    @Test("A percentage becomes the smallest duty that shows it", arguments: 0...100)
    func roundTripsPercent(percent: Int) throws {
        let speed = try #require(PumpSpeed(percent: percent))
        #expect(speed.percent == percent)
        if let smaller = PumpSpeed(pwm: Int(speed.pwm) - 1) { #expect(smaller.percent < percent) }
    }

    @Test("A duty outside 0 to 255 is refused", arguments: [-1, 256, 436, Int.min, Int.max])
    func refusesDuty(pwm: Int) {
        #expect(PumpSpeed(pwm: pwm) == nil)
    }

    @Test("A percentage outside 0 to 100 is refused", arguments: [-1, 101, 255, Int.min, Int.max])
    func refusesPercent(percent: Int) {
        #expect(PumpSpeed(percent: percent) == nil)
    }

    @Test("The initial speed is 180, or 70 %")
    func startsAt180() {
        #expect(PumpSpeed.initial.pwm == 180)
        #expect(PumpSpeed.initial.percent == 70)
    }

    @Test("Speeds are ordered by their duty")
    func isOrdered() throws {
        let speeds = try (0...255).map { try #require(PumpSpeed(pwm: $0)) }
        #expect(speeds.shuffled().sorted() == speeds)
    }

    @Test(
        "A typed speed is parsed as a duty or a percentage",
        arguments: [
            ("0", 0), ("200", 200), ("255", 255), ("0%", 0), ("60%", 153), ("100%", 255), ("007", 7), ("256", nil),
            ("101%", nil), ("", nil), ("%", nil), ("-1", nil), ("+1", nil), ("1.5", nil), (" 1", nil), ("٣", nil),
            ("fast", nil), ("99999999999999999999", nil),
        ] as [(String, UInt8?)])
    func readsText(text: String, pwm: UInt8?) {
        #expect(PumpSpeed(text)?.pwm == pwm)
    }
}
