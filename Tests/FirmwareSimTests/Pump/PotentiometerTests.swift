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
        "Only a change of more than 5 from the last value, 180 at boot, sets the speed",
        arguments: [(716, nil), (737, nil), (741, 186), (696, nil), (692, 174), (19, 0), (1023, 255)]
            as [(Int, UInt8?)])
    func threshold(reading: Int, taken: UInt8?) {
        var filter = PotentiometerFilter()
        #expect(filter.take(reading) == taken)
        #expect(filter.take(reading) == nil)
    }

    @Test("Readings next to the threshold map to the duties 5 and 6 away from 180")
    func edge() {
        #expect(PotentiometerFilter.duty(for: 737) == 185)
        #expect(PotentiometerFilter.duty(for: 741) == 186)
        #expect(PotentiometerFilter.duty(for: 696) == 175)
        #expect(PotentiometerFilter.duty(for: 692) == 174)
    }

    @Test("A slow turn is followed in steps from the last value")
    func slowTurn() {
        var filter = PotentiometerFilter()
        let taken = (716...1023).compactMap { filter.take($0) }
        #expect(taken == [186, 192, 198, 204, 210, 216, 222, 228, 234, 240, 246, 252])
    }

    @Test("The potentiometer sets a running pump's speed within a turn, without output")
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

    @Test("The potentiometer is not read while the pump is off")
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
        "The potentiometer's position overrides the start speed one turn after the first ON",
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

    @Test("By default the potentiometer is half-way")
    func defaultReading() {
        #expect(PumpFirmwareOptions().potentiometer == 512)
    }

    @Test("A potentiometer at rest overrides neither SPEED nor ON")
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
