import FirmwareSim
import Testing

@Suite("Resetting the pump by DTR")
struct PumpResetTests {
    @Test("A reset switches the pump off, and it stays off", arguments: [PumpState.off, .on, .error])
    func off(state: PumpState) {
        var bench = PumpBench()
        bench.bring(to: state)
        bench.reset()
        #expect(bench.pump.state == .off)
        #expect(bench.pump.duty == 0)
        #expect(bench.run(for: .seconds(60)) == "")
        #expect(bench.exchange("STATUS\n") == printed("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}"))
    }

    @Test("The bootloader swallows input for 1.5 s")
    func bootloader() {
        var bench = PumpBench()
        bench.reset()
        bench.send("ON\n")
        _ = bench.run(for: .milliseconds(1500))
        bench.send("TEMP\n")
        #expect(bench.run(for: .seconds(5)) == printed("TEMP:{Water:12.0C,Skin:34.5C}"))
        #expect(bench.pump.state == .off)
        #expect(bench.pump.receiveOverflows == 0)
    }

    @Test("Input during setup waits for the loop, up to 63 bytes")
    func setup() {
        var bench = PumpBench()
        bench.reset()
        _ = bench.run(for: .milliseconds(1600))
        bench.send(String(repeating: "X", count: 62) + "\nSTATUS\n")
        #expect(bench.run(for: .milliseconds(1199)) == "")
        #expect(bench.pump.isBooting)
        #expect(bench.run(for: .milliseconds(110)) == printed("ERROR:UNKNOWN_COMMAND"))
        #expect(!bench.pump.isBooting)
        #expect(bench.pump.receiveOverflows == 7)
    }

    @Test(
        "The banner comes at the end of setup",
        arguments: [
            (PumpFirmwareOptions.BootBanner.off, ""),
            (.hello, printed("HELLO:pump")),
            (
                .banner,
                printed(
                    "========================================", "Device: Arduino Nano pump", "Version: 1.0",
                    "Baud Rate: 9600", "Ready for commands...", "========================================")
            ),
        ])
    func banner(_ banner: PumpFirmwareOptions.BootBanner, text: String) {
        var bench = PumpBench(PumpFirmwareOptions(lineRate: .unlimited, bootBanner: banner))
        bench.reset()
        // 1.5 s in the bootloader, and 1.3 s of setup.
        #expect(bench.run(for: .milliseconds(2799)) == "")
        #expect(bench.run(for: .milliseconds(1)) == text)
        #expect(bench.run(for: .seconds(1)) == "")
    }

    @Test("A banner longer than the transmit buffer delays the first turn")
    func bannerPaced() {
        var bench = PumpBench(PumpFirmwareOptions(bootBanner: .banner))
        bench.reset()
        let text = bench.run(for: .seconds(4))
        #expect(text.hasPrefix("====") && text.hasSuffix("====\r\n"))
        #expect(text.contains("Ready for commands...\r\n"))
        #expect(bench.exchange("OFF\n") == printed("OK", "PUMP:OFF"))
    }

    @Test("A reset loses a half-received command and a half-sent reply")
    func halfLines() {
        var bench = PumpBench(PumpFirmwareOptions())
        bench.send("STATUS\nO")
        let before = bench.run(for: .milliseconds(130))
        #expect(!before.isEmpty && !before.contains("\n"))
        bench.reset()
        #expect(bench.pump.isQuiescent)
        #expect(bench.run(for: .seconds(4)) == "")
        #expect(bench.exchange("N\n") == printed("ERROR:UNKNOWN_COMMAND"))
    }

    @Test("Output sent before the reset is still returned")
    func emissionsSurvive() {
        var pump = PumpFirmware(options: PumpFirmwareOptions(lineRate: .unlimited))
        pump.receive(Array("OFF\n".utf8), at: .zero)
        pump.reset(at: .seconds(1))
        #expect(pump.nextActivity == .seconds(1))
        #expect(!pump.isQuiescent)
        let emissions = pump.advance(to: .seconds(1))
        #expect(emissions == [Emission(bytes: Array("OK\r\nPUMP:OFF\r\n".utf8), time: .milliseconds(109))])
    }

    @Test("A button press just before or during the boot has no effect")
    func button() {
        var bench = PumpBench()
        bench.pressButton()
        bench.reset()
        _ = bench.run(for: .seconds(1))
        bench.pressButton()
        _ = bench.run(for: .seconds(1))
        bench.pressButton()
        #expect(bench.run(for: .seconds(10)) == "")
        #expect(bench.pump.state == .off)
    }

    @Test("The run timer and the potentiometer's last value are reset")
    func freshStart() {
        var bench = PumpBench()
        bench.pump.setPotentiometer(1023)
        bench.bring(to: .on)
        _ = bench.run(for: .seconds(600))
        #expect(bench.pump.duty == 255)
        bench.reset()
        _ = bench.run(for: .seconds(3))
        bench.bring(to: .on)
        #expect(bench.exchange("STATUS\n").contains("Speed:100%,Runtime:0m,Remaining:29m"))
        #expect(bench.pump.duty == 255)
    }

    @Test("A reset during the boot restarts it")
    func again() {
        var bench = PumpBench(PumpFirmwareOptions(lineRate: .unlimited, bootBanner: .hello))
        bench.reset()
        _ = bench.run(for: .seconds(2))
        bench.reset()
        #expect(bench.run(for: .milliseconds(2799)) == "")
        #expect(bench.run(for: .milliseconds(1)) == printed("HELLO:pump"))
    }

    @Test("The power LED is off in the bootloader, the status LED until the first reply")
    func lights() {
        var bench = PumpBench()
        bench.reset()
        #expect(!bench.pump.powerLED)
        _ = bench.run(for: .milliseconds(1500))
        #expect(bench.pump.powerLED)
        #expect(!bench.pump.statusLED)
        bench.send("TEMP\n")
        // The rest of the boot, which takes 2.8 s in all, and a turn of 109 ms.
        _ = bench.run(for: .milliseconds(1409))
        #expect(bench.pump.statusLED)
    }
}
