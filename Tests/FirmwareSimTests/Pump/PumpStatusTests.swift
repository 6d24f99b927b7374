import FirmwareSim
import Testing

@Suite("Status and temperature lines of the pump")
struct PumpStatusTests {
    /// A pump, the query sent to it, and its reply.
    struct Report: Sendable {
        var thermistors: PumpFirmwareOptions.Thermistors = .two
        var reportsTimesWhenStopped = false
        var state: PumpState
        /// The time since ON or since the error.
        var elapsed: Duration = .zero
        var water: Float = 12
        var skin: Float = 34.5
        var out = "STATUS\n"
        var back: String
    }

    static let reports = [
        Report(
            state: .on, elapsed: .seconds(300),
            back: "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"),
        Report(state: .off, back: "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"),
        Report(state: .error, skin: 41, back: "STATUS:{State:ERROR,WaterTemp:12.0C,SkinTemp:41.0C}\r\n"),
        Report(
            thermistors: .one, state: .on, elapsed: .seconds(300),
            back: "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m,Temp:34.5C}\r\n"),
        Report(thermistors: .one, state: .off, back: "STATUS:{State:OFF,Temp:34.5C}\r\n"),
        Report(thermistors: .one, state: .error, skin: 41, back: "STATUS:{State:ERROR,Temp:41.0C}\r\n"),
        Report(
            reportsTimesWhenStopped: true, state: .off, water: 12.5, skin: 35.2,
            back: "STATUS:{State:OFF,Speed:0%,Runtime:0m,Remaining:30m,WaterTemp:12.5C,SkinTemp:35.2C}\r\n"),
        Report(
            thermistors: .zero, state: .on, elapsed: .seconds(300),
            back: "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m,WaterTemp:?C,SkinTemp:?C}\r\n"),
        Report(thermistors: .zero, state: .off, back: "STATUS:{State:OFF,WaterTemp:?C,SkinTemp:?C}\r\n"),
        Report(thermistors: .zero, state: .off, out: "TEMP\n", back: "TEMP:{Water:?C,Skin:?C}\r\n"),
        Report(state: .off, out: "TEMP\n", back: "TEMP:{Water:12.0C,Skin:34.5C}\r\n"),
        Report(thermistors: .one, state: .off, out: "TEMP\n", back: "TEMP:34.5\r\n"),
        Report(state: .off, water: 9.5, out: "TEMP\n", back: "TEMP:{Water: 9.5C,Skin:34.5C}\r\n"),
        Report(state: .off, water: 9.5, back: "STATUS:{State:OFF,WaterTemp: 9.5C,SkinTemp:34.5C}\r\n"),
        Report(thermistors: .one, state: .off, skin: 9.5, out: "TEMP\n", back: "TEMP: 9.5\r\n"),
        Report(
            state: .off, water: -80, skin: .nan, back: "STATUS:{State:OFF,WaterTemp:-80.0C,SkinTemp: nanC}\r\n"),
        Report(
            state: .off, water: .infinity, skin: -.infinity, out: "TEMP\n",
            back: "TEMP:{Water: infC,Skin:-infC}\r\n"),
    ]

    @Test("Status and temperature lines have the form for the pump's state and thermistors", arguments: reports)
    func report(_ report: Report) {
        var bench = PumpBench(
            PumpFirmwareOptions(
                lineRate: .unlimited, thermistors: report.thermistors,
                reportsTimesWhenStopped: report.reportsTimesWhenStopped))
        bench.bring(to: report.state)
        _ = bench.run(for: report.elapsed)
        bench.pump.setWaterThermistor(.reading(report.water))
        bench.pump.setSkinThermistor(.reading(report.skin))
        #expect(bench.exchange(report.out) == report.back)
    }

    @Test(
        "The speed is in whole percent, rounded down",
        arguments: [(0, 0), (1, 0), (2, 0), (3, 1), (127, 49), (128, 50), (180, 70), (200, 78), (254, 99), (255, 100)])
    func percent(duty: Int, percent: Int) {
        var bench = PumpBench()
        bench.bring(to: .on)
        _ = bench.exchange("SPEED:\(duty)\n")
        #expect(bench.exchange("STATUS\n").contains("State:ON,Speed:\(percent)%,"))
    }

    @Test(
        "Runtime and remaining time are each truncated to whole minutes",
        arguments: [
            // The first turn comes 159 ms after that of ON, then one every 109 ms.
            (Duration.milliseconds(159), "Runtime:0m,Remaining:29m"),
            (.milliseconds(59_891), "Runtime:0m,Remaining:29m"),
            (.seconds(60), "Runtime:1m,Remaining:29m"),
            (.milliseconds(60_109), "Runtime:1m,Remaining:28m"),
            (.milliseconds(1_799_849), "Runtime:29m,Remaining:0m"),
        ])
    func minutes(runtime: Duration, fields: String) {
        var bench = PumpBench()
        bench.bring(to: .on)
        // STATUS is sent early enough to be handled in the turn at `runtime`.
        _ = bench.run(for: runtime - .milliseconds(50))
        #expect(bench.exchange("STATUS\n").contains(fields))
    }

    @Test("ON restarts the run timer of a running pump")
    func restart() {
        var bench = PumpBench()
        bench.bring(to: .on)
        _ = bench.run(for: .seconds(600))
        #expect(bench.exchange("STATUS\n").contains("Runtime:10m,Remaining:19m"))
        _ = bench.exchange("ON\n")
        #expect(bench.exchange("STATUS\n").contains("Runtime:0m,Remaining:29m"))
    }

    @Test("SPEED does not change the run timer")
    func speedKeepsRuntime() {
        var bench = PumpBench()
        bench.bring(to: .on)
        _ = bench.run(for: .seconds(600))
        _ = bench.exchange("SPEED:100\n")
        #expect(bench.exchange("STATUS\n").contains("Speed:39%,Runtime:10m,Remaining:19m"))
    }
}
