import Testing

@testable import FirmwareSim

@Suite("Temperature probes of the pump")
struct ThermistorTests {
    @Test(
        "A temperature gives the ADC counts of a 10 kΩ NTC with B 3950 over 10 kΩ",
        arguments: [(25.0, 512), (0.0, 234), (100.0, 957), (-273.15, 0), (-300.0, 0), (.nan, 0), (.infinity, 1023)])
    func counts(celsius: Double, counts: Int) {
        #expect(Thermistor.counts(atCelsius: celsius) == counts)
    }

    @Test("From 0 to 50 °C, a temperature read back from its ADC counts differs by less than 0.12 °C")
    func roundTrip() {
        for tenths in 0...500 {
            let celsius = Double(tenths) / 10
            let read = Thermistor.celsius(fromCounts: Thermistor.counts(atCelsius: celsius))
            #expect(abs(Double(read) - celsius) < 0.12)
        }
    }

    @Test("Readings rise with every count")
    func monotonic() {
        let readings = (1..<1023).map(Thermistor.celsius(fromCounts:))
        #expect(zip(readings, readings.dropFirst()).allSatisfy(<))
    }

    @Test(
        "A broken or replaced probe reads as the firmware's arithmetic prints it",
        arguments: [
            (ThermistorCondition.open, "-273.1"), (.shorted, "-273.1"), (.reading(-80), "-80.0"),
            (.reading(.nan), " nan"), (.reading(.infinity), " inf"),
        ])
    func broken(condition: ThermistorCondition, text: String) {
        #expect(oneDecimal(condition.reading(atCelsius: 20)) == text)
    }

    @Test("A pin pulled almost to ground, at one ADC count, reads -77.4 °C")
    func almostOpen() {
        #expect(oneDecimal(Thermistor.celsius(fromCounts: 1)) == "-77.4")
    }

    @Test("A broken skin probe does not shut the pump off", arguments: [ThermistorCondition.open, .shorted])
    func brokenSkinProbe(condition: ThermistorCondition) {
        var bench = PumpBench()
        bench.bring(to: .on)
        bench.pump.setSkinThermistor(condition)
        _ = bench.run(for: .seconds(1))
        #expect(bench.pump.state == .on)
        #expect(bench.exchange("TEMP\n") == printed("TEMP:{Water:12.0C,Skin:-273.1C}"))
        bench.pump.setSkinThermistor(.sound)
        #expect(bench.exchange("TEMP\n") == printed("TEMP:{Water:12.0C,Skin:34.5C}"))
    }
}

@Suite("A pump without thermistors")
struct NoThermistorTests {
    @Test("A pump without thermistors ignores a warm skin and stops after 30 minutes")
    func runsOn() {
        var bench = PumpBench(PumpFirmwareOptions(lineRate: .unlimited, thermistors: .zero))
        bench.bring(to: .on)
        bench.pump.setSkinThermistor(.reading(60))
        _ = bench.run(for: .seconds(1700))
        #expect(bench.pump.state == .on)
        #expect(bench.run(for: .seconds(101)).contains("ERROR:SAFETY_SHUTOFF"))
        #expect(bench.pump.state == .error)
    }
}

@Suite("The heat model")
struct HeatModelTests {
    @Test("Fixed temperatures stay constant")
    func fixed() {
        var heat = HeatModel.fixed(water: 12, skin: 41)
        heat.advance(by: .seconds(3600), duty: 255)
        #expect(heat.water == 12)
        #expect(heat.skin == 41)
    }

    @Test("Without flow the skin warms to body temperature and the water to room temperature")
    func warming() {
        var heat = HeatModel.moving(water: 5, skin: 30)
        for _ in 0..<200_000 { heat.advance(by: .milliseconds(150), duty: 0) }
        #expect(heat.skin > 35.9 && heat.skin <= HeatModel.bodyTemperature)
        #expect(heat.water > 21 && heat.water <= HeatModel.roomTemperature)
    }

    @Test("More flow and colder water cool the skin more")
    func cooling() {
        func skin(water: Double, duty: UInt8) -> Double {
            var heat = HeatModel.moving(water: water, skin: 34.5)
            for _ in 0..<4000 { heat.advance(by: .milliseconds(150), duty: duty) }
            return heat.skin
        }
        #expect(skin(water: 12, duty: 255) < skin(water: 12, duty: 100))
        #expect(skin(water: 12, duty: 100) < skin(water: 12, duty: 0))
        #expect(skin(water: 5, duty: 255) < skin(water: 20, duty: 255))
    }

    @Test("A running pump cools the skin, and no run of 30 minutes overheats it")
    func pumpRun() {
        var pump = PumpFirmware(options: PumpFirmwareOptions(lineRate: .unlimited))
        pump.receive(Array("ON\n".utf8), at: .zero)
        _ = pump.advance(to: .seconds(1799))
        #expect(pump.state == .on)
        #expect(pump.heat.skin < 33)
        #expect(pump.heat.water > 12)
    }

    @Test("Temperatures move on from the values that were set")
    func setTemperatures() {
        var pump = PumpFirmware()
        pump.setSkinTemperature(30)
        pump.setWaterTemperature(40)
        #expect(pump.heat.skin == 30)
        #expect(pump.heat.water == 40)
        _ = pump.advance(to: .seconds(60))
        #expect(pump.heat.skin > 30)
        #expect(pump.heat.water < 40)
    }
}
