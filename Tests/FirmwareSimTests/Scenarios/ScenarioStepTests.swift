import FirmwareSim
import Testing

@Suite("Scenario steps")
struct ScenarioStepTests {
    /// A pump to which these steps of a scenario happen, such as `10s press`.
    private static func pump(_ steps: [String], seed: UInt64 = 1) throws -> FaultyDevice<PumpFirmware> {
        let settings = try Simulator.pump.settings(["step": steps.joined(separator: "\n")])
        let options = PumpFirmwareOptions(lineRate: .unlimited, heat: .fixed(water: 12, skin: 34.5))
        var pump = FaultyDevice(PumpFirmware(options: options), seed: seed)
        try pump.add(settings.steps())
        return pump
    }

    private static func text(_ emissions: [Emission]) -> String {
        String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
    }

    @Test("A step at a time happens once, even if the device is advanced rarely")
    func time() throws {
        var pump = try Self.pump(["10s press"])
        #expect(pump.advance(to: .milliseconds(9900)).isEmpty)
        let emissions = pump.advance(to: .seconds(12))
        #expect(Self.text(emissions).hasPrefix("MANUAL:ON\r\n"))
        #expect(emissions[0].time >= .seconds(10) && emissions[0].time < .milliseconds(10_200))
        #expect(!Self.text(pump.advance(to: .seconds(100))).contains("MANUAL"))
        #expect(try Self.pump(["10s press"]).nextActivity.map { $0 <= .seconds(10) } == true)
    }

    @Test("A step after a command happens once")
    func command() throws {
        var pump = try Self.pump(["command:2 temperature skin 41"])
        pump.receive(Array("ON\n".utf8), at: .zero)
        #expect(Self.text(pump.advance(to: .seconds(2))) == "OK\r\nPUMP:ON\r\n")
        pump.receive(Array("TEMP\n".utf8), at: .seconds(2))
        #expect(Self.text(pump.advance(to: .seconds(3))).contains("ERROR:OVERHEAT"))
    }

    @Test("A step after a line happens each time")
    func line() throws {
        var pump = try Self.pump(["line:PUMP:OFF press"])
        for second in [0, 2] {
            pump.receive(Array("OFF\n".utf8), at: .seconds(second))
            #expect(Self.text(pump.advance(to: .seconds(second + 1))) == "OK\r\nPUMP:OFF\r\nMANUAL:ON\r\n")
        }
    }

    @Test("Random steps are the same for the same seed")
    func chance() throws {
        func presses(_ seed: UInt64) throws -> Int {
            var pump = try Self.pump(["30% press"], seed: seed)
            var text = ""
            for second in 0..<40 {
                pump.receive(Array("TEMP\n".utf8), at: .seconds(second))
                text += Self.text(pump.advance(to: .seconds(second + 1)))
            }
            return text.split(separator: "\r\n").filter { $0.hasPrefix("MANUAL") }.count
        }
        #expect(try presses(1) == presses(1))
        #expect(try (3...40).contains(presses(1)))
    }

    @Test("Resets and faults are steps too")
    func resetAndFaults() throws {
        var pump = try Self.pump(["5s reset", "20s fault duplicate@always"])
        pump.receive(Array("ON\n".utf8), at: .zero)
        _ = pump.advance(to: .seconds(6))
        #expect(pump.device.state == .off)
        pump.receive(Array("OFF\n".utf8), at: .seconds(21))
        #expect(Self.text(pump.advance(to: .seconds(22))) == "OK\r\nOK\r\nPUMP:OFF\r\nPUMP:OFF\r\n")
    }

    @Test(
        "An invalid step is refused",
        arguments: ["press", "10s", "always press", "start press", "0s press", "10s\npress", "command:0 press"])
    func refused(text: String) {
        #expect(throws: SimulatorOptionError.self) { try Simulator.pump.settings(["step": text]) }
    }

    @Test(
        "A step with an unknown verb or wrong arguments is refused",
        arguments: ["10s jump", "10s temperature skin", "10s temperature elbow 41", "10s press twice", "10s reset now"])
    func unknown(text: String) {
        #expect(throws: DeviceVerbError.self) { try Self.pump(["1s press", text]) }
    }
}
