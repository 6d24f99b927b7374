import DescriptorIO
import FirmwareSim
import Testing

@Suite("Verbs of a running device", .timeLimit(.minutes(5)))
struct DeviceHandleTests {
    private static func handle(_ device: some SimulatedDevice) -> DeviceHandle {
        DeviceHost(device, pace: .onDemand).handle
    }

    @Test("Each family has its own verbs and the common ones")
    func verbs() {
        #expect(
            Self.handle(PumpFirmware()).verbs == ["advance", "press", "probe", "reset", "set", "temperature", "turn"])
        #expect(Self.handle(StormFirmware()).verbs == ["advance", "measure", "reset", "set"])
        #expect(Self.handle(LEDFirmware()).verbs == ["advance", "light", "reset", "set"])
        #expect(Self.handle(PeerFirmware()).verbs == ["advance", "reset", "say", "set", "toggle"])
        #expect(Self.handle(RescueFirmware()).verbs == ["advance", "reset", "set", "write"])
        // A device without changeable options has no verb for them.
        #expect(Self.handle(Silence()).verbs == ["advance", "reset"])
    }

    @Test("Each probe of a pump can be broken, repaired and set to a temperature", arguments: ["water", "skin"])
    func probes(probe: String) async throws {
        let host = DeviceHost(
            PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34))), pace: .onDemand)
        try await host.handle.perform("temperature", [probe, "30.5"])
        let expected = probe == "water" ? (30.5, 34.0) : (12.0, 30.5)
        let observed = await host.handle.observe()
        #expect(observed["water_temp_c"] == .number(expected.0))
        #expect(observed["skin_temp_c"] == .number(expected.1))
        let sound = await host.change { pump, now in Self.temperatures(&pump, now) }
        try await host.handle.perform("probe", [probe, "open"])
        let open = await host.change { pump, now in Self.temperatures(&pump, now) }
        #expect(open != sound)
        try await host.handle.perform("probe", [probe, "shorted"])
        #expect(await host.change { pump, now in Self.temperatures(&pump, now) } != sound)
        try await host.handle.perform("probe", [probe, "sound"])
        #expect(await host.change { pump, now in Self.temperatures(&pump, now) } == sound)
    }

    /// Returns the reply of a copy of the pump to TEMP.
    private static func temperatures(_ pump: inout PumpFirmware, _ now: Duration) -> String {
        var copy = pump
        copy.receive(Array("TEMP\n".utf8), at: now)
        return String(decoding: copy.advance(to: now + .seconds(1)).flatMap(\.bytes), as: UTF8.self)
    }

    @Test("A running device's faults are replaced and removed")
    func faults() async throws {
        let host = DeviceHost(FaultyDevice(LEDFirmware(lineRate: .unlimited)), pace: .onDemand)
        #expect(host.handle.verbs == ["advance", "fault", "light", "reset", "set"])
        try await host.handle.perform("fault", ["delay=2s@10%,drop"])
        try await host.handle.perform("fault", ["duplicate@always"])
        #expect(await host.handle.observe()["faults"] == .text("duplicate@always"))
        await #expect(throws: DeviceVerbError.self) { try await host.handle.perform("fault", ["bogus"]) }
        #expect(await host.change { device, now in Self.state(&device, now) } == "LED:0\r\nLED:0\r\n")
        try await host.handle.perform("fault", ["none"])
        #expect(await host.handle.observe() == ["lit": .boolean(false)])
        #expect(await host.change { device, now in Self.state(&device, now) } == "LED:0\r\n")
    }

    /// Returns the board's report of its LED.
    private static func state(_ board: inout FaultyDevice<LEDFirmware>, _ now: Duration) -> String {
        board.receive(Array("LED\n".utf8), at: now)
        return String(decoding: board.advance(to: now).flatMap(\.bytes), as: UTF8.self)
    }

    @Test(
        "A fault that does not apply to a running device is refused, and the others stay",
        arguments: [
            ("stuck", "the fault stuck makes no sense: a storm sensor has no error state"),
            ("lost", "the fault lost needs BLE: a line has no packets"),
        ])
    func senselessFaults(fault: String, reason: String) async throws {
        let settings = try Simulator.storm.settings(["fault": "delay"])
        let storm = StormFirmware(options: StormFirmwareOptions(settings: settings))
        let handle = Self.handle(try FaultyDevice(storm, settings))
        let error = await #expect(throws: DeviceVerbError.self) { try await handle.perform("fault", [fault]) }
        #expect(error?.description == reason)
        #expect(await handle.observe()["faults"] == .text("delay"))
        let step = try Simulator.storm.settings(["step": "10s fault \(fault)"])
        #expect(throws: SimulatorOptionError.self) { try FaultyDevice(storm, step) }
    }

    @Test("A storm sensor measures and stores on request")
    func storm() async throws {
        let handle = Self.handle(StormFirmware(options: StormFirmwareOptions(rows: 3)))
        #expect(await handle.observe() == ["rows": .integer(3)])
        try await handle.perform("measure")
        #expect(await handle.observe() == ["rows": .integer(4)])
    }

    @Test("A peer says the given text")
    func peer() async throws {
        let host = DeviceHost(PeerFirmware(options: PeerFirmwareOptions(carrier: .line(.unlimited))), pace: .onDemand)
        let (far, near) = try DescriptorChannel.pair(on: .shared)
        await host.attach(near)
        try await host.handle.perform("say", ["bring water"])
        var said = ""
        while !said.contains("bring water\r\n") {
            said += String(decoding: try #require(try await far.read()), as: UTF8.self)
        }
        await far.close()
    }

    @Test("A reset LED board is off")
    func reset() async throws {
        let host = DeviceHost(LEDFirmware(lineRate: .unlimited, isLit: true), pace: .onDemand)
        #expect(await host.handle.observe() == ["lit": .boolean(true)])
        try await host.handle.perform("reset")
        #expect(await host.handle.observe() == ["lit": .boolean(false)])
    }

    @Test("A refused verb reports the reason")
    func refusals() async {
        let handle = Self.handle(PumpFirmware())
        await #expect(throws: DeviceVerbError.unknown("dance", known: handle.verbs)) {
            try await handle.perform("dance")
        }
        await #expect(throws: DeviceVerbError.argumentCount(of: "turn", names: ["position"])) {
            try await handle.perform("turn")
        }
        await #expect(
            throws: DeviceVerbError.argument(SimulatorOptionError("position", .invalid(takes: .decimal(0...1))))
        ) { try await handle.perform("turn", ["2"]) }
    }
}

/// A device that does nothing.
private struct Silence: SimulatedDevice {
    mutating func receive(_ bytes: [UInt8], at instant: Duration) {}
    mutating func advance(to instant: Duration) -> [Emission] { [] }
    var nextActivity: Duration? { nil }
    var isQuiescent: Bool { true }
    mutating func reset(at instant: Duration) {}
}
