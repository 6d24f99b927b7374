import FirmwareSim
import Testing

@Suite("Unsolicited lines of the pump")
struct PumpUnsolicitedTests {
    private static let statusAtStart =
        "STATUS:{State:ON,Speed:70%,Runtime:0m,Remaining:29m,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"

    // MARK: Status

    /// - Parameter quarters: The time of ON, in steps of 250 ms.
    @Test("A running pump reports every 5 s from boot, at the next loop turn", arguments: 1..<20)
    func periodicStatus(quarters: Int) {
        var bench = PumpBench()
        _ = bench.run(for: .milliseconds(quarters * 250))
        bench.bring(to: .on)
        for beat in 1...4 {
            let rest = Duration.seconds(5 * beat) - bench.now
            if rest > .zero { #expect(bench.run(for: rest - .milliseconds(1)) == "") }
            #expect(bench.run(for: .milliseconds(170)) == Self.statusAtStart)
        }
    }

    @Test("The first report can come in the turn that answers a second ON")
    func reportBesideReply() {
        var bench = PumpBench()
        bench.bring(to: .on)
        // Advance to the sleep before the turn that sends a report.
        while (bench.pump.nextActivity ?? .zero) < .seconds(5) { _ = bench.run(for: .milliseconds(1)) }
        #expect(bench.exchange("ON\n") == Self.statusAtStart + printed("OK", "PUMP:ON"))
    }

    @Test("A pump that is off or in error sends nothing", arguments: [PumpState.off, .error])
    func quiet(state: PumpState) {
        var bench = PumpBench()
        bench.bring(to: state)
        #expect(bench.run(for: .seconds(3600)) == "")
    }

    @Test("STATUS and a repeated ON do not postpone the next report")
    func pollingDoesNotPostpone() {
        var bench = PumpBench()
        bench.bring(to: .on)
        _ = bench.run(for: .seconds(4))
        #expect(bench.exchange("STATUS\n") == Self.statusAtStart)
        #expect(bench.exchange("ON\n") == printed("OK", "PUMP:ON"))
        #expect(bench.run(for: .milliseconds(5170) - bench.now) == Self.statusAtStart)
    }

    // MARK: Button

    @Test("The button toggles the pump, and acts as OFF in the error state")
    func button() {
        var bench = PumpBench()
        bench.pressButton()
        #expect(bench.run(for: .milliseconds(160)) == printed("MANUAL:ON"))
        #expect(bench.pump.state == .on)
        #expect(bench.pump.duty == 180)
        bench.pressButton()
        #expect(bench.run(for: .milliseconds(160)) == printed("MANUAL:OFF"))
        #expect(bench.pump.state == .off)

        bench.bring(to: .error)
        bench.pressButton()
        #expect(bench.run(for: .milliseconds(160)) == printed("MANUAL:OFF"))
        #expect(bench.pump.state == .off)
        #expect(bench.run(for: .seconds(10)) == "")
    }

    @Test("A press waits for the next loop turn, and two presses before it count as one")
    func pressesMerge() {
        var bench = PumpBench()
        _ = bench.run(for: .milliseconds(110))
        bench.pressButton()
        bench.pressButton()
        #expect(bench.run(for: .milliseconds(107)) == "")
        #expect(bench.run(for: .milliseconds(1)) == printed("MANUAL:ON"))
    }

    @Test("The button is handled before the command of the same turn")
    func buttonFirst() {
        var bench = PumpBench()
        bench.pressButton()
        #expect(bench.exchange("SPEED:9\n") == printed("MANUAL:ON", "OK", "SPEED:9"))
    }

    @Test("Some firmware inserts unsolicited lines between the lines of a reply")
    func buttonBetweenLines() {
        var bench = PumpBench(PumpFirmwareOptions(lineRate: .unlimited, interruptsReplies: true))
        bench.pressButton()
        #expect(bench.exchange("ON\n") == printed("OK", "MANUAL:OFF", "PUMP:ON"))
        #expect(bench.pump.state == .off)
        bench.pressButton()
        #expect(bench.run(for: .milliseconds(160)) == printed("MANUAL:ON"))
        // Advance to the sleep before the turn that sends a report.
        while (bench.pump.nextActivity ?? .zero) < .seconds(5) { _ = bench.run(for: .milliseconds(1)) }
        bench.send("SPEED:180\n")
        #expect(bench.run(for: .milliseconds(300)) == "OK\r\n" + Self.statusAtStart + "SPEED:180\r\n")
    }

    // MARK: Safety

    @Test("The pump shuts off in the turn that completes 30 minutes of running")
    func safetyShutOff() {
        var bench = PumpBench()
        bench.bring(to: .on)
        _ = bench.run(for: .milliseconds(1_799_999))
        #expect(bench.pump.state == .on)
        #expect(bench.run(for: .milliseconds(110)) == printed("ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded"))
        #expect(bench.pump.state == .error)
        #expect(bench.pump.duty == 0)
        #expect(!bench.pump.isEnabled)
        #expect(bench.exchange("ON\n") == printed("ERROR:PUMP_START_FAILED"))
        #expect(bench.exchange("STATUS\n") == printed("STATUS:{State:ERROR,WaterTemp:12.0C,SkinTemp:34.5C}"))
        #expect(bench.exchange("OFF\n") == printed("OK", "PUMP:OFF"))
        #expect(bench.exchange("ON\n") == printed("OK", "PUMP:ON"))
    }

    @Test("ON after 29 minutes starts another 30 minutes")
    func safetyTimerRestarts() {
        var bench = PumpBench()
        bench.bring(to: .on)
        _ = bench.run(for: .seconds(29 * 60))
        _ = bench.exchange("ON\n")
        _ = bench.run(for: .milliseconds(1_799_999))
        #expect(bench.pump.state == .on)
        _ = bench.run(for: .milliseconds(110))
        #expect(bench.pump.state == .error)
    }

    @Test(
        "A skin temperature above 40.0 °C shuts a running pump off",
        arguments: [
            (Float(40), PumpState.on), (40.1, .error), (41.2, .error), (.infinity, .error),
            (.nan, .on), (-.infinity, .on), (-80, .on),
        ])
    func overheat(skin: Float, state: PumpState) {
        var bench = PumpBench()
        bench.bring(to: .on)
        bench.pump.setSkinThermistor(.reading(skin))
        let expected = state == .error ? printed("ERROR:OVERHEAT", "Skin temperature too high: ?C") : ""
        #expect(bench.run(for: .milliseconds(300)) == expected)
        #expect(bench.pump.state == state)
    }

    @Test("Firmware whose printf supports floats prints the temperature")
    func overheatText() {
        var bench = PumpBench(PumpFirmwareOptions(lineRate: .unlimited, printsFloats: true))
        bench.bring(to: .on)
        bench.pump.setSkinThermistor(.reading(41.2))
        #expect(bench.run(for: .milliseconds(300)) == printed("ERROR:OVERHEAT", "Skin temperature too high: 41.2C"))
    }

    @Test("A hot skin shuts off each new run, but never a pump that is off")
    func overheatOnlyWhenRunning() {
        var bench = PumpBench()
        bench.pump.setSkinThermistor(.reading(45))
        #expect(bench.run(for: .seconds(10)) == "")
        #expect(bench.exchange("ON\n") == printed("OK", "PUMP:ON"))
        #expect(bench.run(for: .milliseconds(160)) == printed("ERROR:OVERHEAT", "Skin temperature too high: ?C"))
        #expect(bench.exchange("OFF\n") == printed("OK", "PUMP:OFF"))
    }

    @Test("A real skin temperature overheats the pump through its probe")
    func overheatThroughProbe() {
        var pump = PumpFirmware(
            options: PumpFirmwareOptions(lineRate: .unlimited, heat: .fixed(water: 12, skin: 39.5)))
        pump.receive(Array("ON\n".utf8), at: .zero)
        _ = pump.advance(to: .seconds(1))
        #expect(pump.state == .on)
        pump.setSkinTemperature(40.5)
        _ = pump.advance(to: .seconds(2))
        #expect(pump.state == .error)
    }
}
