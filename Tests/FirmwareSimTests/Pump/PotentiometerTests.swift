import Testing

@testable import FirmwareSim

@Suite("The speed potentiometer")
struct PotentiometerTests {
    @Test(
        "Readings map to PWM duties",
        arguments: [(0, 0), (19, 0), (20, 10), (24, 10), (25, 11), (512, 130), (716, 180), (1022, 254), (1023, 255)])
    func mapping(reading: Int, duty: UInt8) {
        #expect(PotentiometerFilter.duty(for: reading) == duty)
    }

    @Test(
        "Only a change of more than 5 from the last value taken, 180 at boot, sets the speed",
        arguments: [(716, nil), (737, nil), (741, 186), (696, nil), (692, 174), (19, 0), (1023, 255)]
            as [(Int, UInt8?)])
    func threshold(reading: Int, taken: UInt8?) {
        var filter = PotentiometerFilter()
        #expect(filter.take(reading) == taken)
        #expect(filter.take(reading) == nil)
    }

    @Test("Changes of exactly 5 and 6")
    func edge() {
        #expect(PotentiometerFilter.duty(for: 737) == 185)
        #expect(PotentiometerFilter.duty(for: 741) == 186)
        #expect(PotentiometerFilter.duty(for: 696) == 175)
        #expect(PotentiometerFilter.duty(for: 692) == 174)
    }

    @Test("A slow turn is followed from the last value taken")
    func slowTurn() {
        var filter = PotentiometerFilter()
        let taken = (716...1023).compactMap { filter.take($0) }
        #expect(taken == [186, 192, 198, 204, 210, 216, 222, 228, 234, 240, 246, 252])
    }

    @Test("It sets the speed of a running pump within a turn, silently")
    func running() {
        var bench = PumpBench()
        bench.bring(to: .on)
        bench.pump.setPotentiometer(512)
        #expect(bench.run(for: .milliseconds(160)) == "")
        #expect(bench.pump.duty == 130)
        bench.pump.setPotentiometer(-5)
        _ = bench.run(for: .milliseconds(160))
        #expect(bench.pump.duty == 0)
        #expect(bench.pump.state == .on)
        bench.pump.setPotentiometer(5000)
        _ = bench.run(for: .milliseconds(160))
        #expect(bench.pump.duty == 255)
    }

    @Test("While the pump is off it is not read")
    func notRunning() {
        var bench = PumpBench()
        bench.pump.setPotentiometer(512)
        _ = bench.run(for: .seconds(1))
        #expect(bench.pump.duty == 0)
        #expect(bench.exchange("ON\n") == printed("OK", "PUMP:ON"))
        #expect(bench.pump.duty == 180)
        _ = bench.run(for: .milliseconds(160))
        #expect(bench.pump.duty == 130)
    }

    @Test(
        "Where it does not stand at the start speed, the pump has another speed a turn after its first ON",
        arguments: [(0, 0), (512, 130), (692, 174), (696, 180), (716, 180), (1023, 255), (-1, 0), (2000, 255)])
    func start(reading: Int, duty: UInt8) {
        var bench = PumpBench(potentiometer: reading)
        bench.bring(to: .on)
        #expect(bench.pump.duty == 180)
        _ = bench.run(for: .milliseconds(160))
        #expect(bench.pump.duty == duty)
        #expect(bench.exchange("STATUS\n").contains("Speed:\(Int(duty) * 100 / 255)%"))
        // The speed of the second ON stays, because the knob has not moved since the first.
        _ = bench.exchange("ON\n")
        _ = bench.run(for: .seconds(1))
        #expect(bench.pump.duty == 180)
    }

    @Test("Unless told otherwise it stands half-way, and not where it would hide what the firmware does")
    func defaultReading() {
        #expect(PumpFirmwareOptions().potentiometer == 512)
    }

    @Test("At rest it overrules neither SPEED nor ON")
    func commandsPrevail() {
        var bench = PumpBench()
        bench.pump.setPotentiometer(512)
        bench.bring(to: .on)
        _ = bench.run(for: .seconds(1))
        #expect(bench.pump.duty == 130)
        _ = bench.exchange("SPEED:33\n")
        _ = bench.run(for: .seconds(1))
        #expect(bench.pump.duty == 33)
        _ = bench.exchange("ON\n")
        _ = bench.run(for: .seconds(1))
        #expect(bench.pump.duty == 180)
    }
}
