import FirmwareSim
import Testing

@Suite("Faults of a running device", .timeLimit(.minutes(5)))
struct FaultVerbTests {
    /// The handle of a device with the default options of `simulator`, to which verbs add faults.
    private static func handle(
        _ simulator: Simulator, _ device: some SimulatedDevice, over carrier: SimulatorOption.Carrier,
        isOnTerminal: Bool = false
    ) throws -> DeviceHandle {
        let settings = try simulator.settings(over: carrier)
        return DeviceHost(try FaultyDevice(device, settings, isOnTerminal: isOnTerminal), pace: .onDemand).handle
    }

    @Test(
        "Over BLE a device takes radio faults and refuses cable faults", arguments: ["disconnect", "early", "lost"])
    func radio(fault: String) async throws {
        let handle = try Self.handle(.led, LEDFirmware(), over: .radio)
        try await handle.perform("fault", [fault])
        #expect(await handle.observe()["faults"] == .text(fault))
        for refused in ["unplug", "baud", "drift", "bogus"] {
            await #expect(throws: DeviceVerbError.self, "\(refused)") { try await handle.perform("fault", [refused]) }
        }
        #expect(await handle.observe()["faults"] == .text(fault))
    }

    @Test("On a line a device refuses radio faults, and the baud fault unless it is on a terminal")
    func line() async throws {
        let socket = try Self.handle(.pump, PumpFirmware(), over: .line)
        for refused in ["lost", "baud"] {
            await #expect(throws: DeviceVerbError.self, "\(refused)") { try await socket.perform("fault", [refused]) }
        }
        try await socket.perform("fault", ["unplug"])
        try await Self.handle(.pump, PumpFirmware(), over: .line, isOnTerminal: true).perform("fault", ["baud"])
    }

    @Test("A peer's own faults can be replaced and removed")
    func own() async throws {
        let settings = try Simulator.peer.settings(["fault": "stalls"])
        let peer = PeerFirmware(options: try PeerFirmwareOptions(settings: settings))
        let host = DeviceHost(try FaultyDevice(peer, settings), pace: .onDemand)
        #expect(await host.handle.observe()["faults"] == .text("stalls"))
        try await host.handle.perform("fault", ["none"])
        #expect(await host.handle.observe()["faults"] == nil)
        #expect(await host.change { peer, _ in peer.device.options.imageFault } == nil)
        try await host.handle.perform("fault", ["not_png,delay"])
        #expect(await host.handle.observe()["faults"] == .text("not_png,delay"))
        #expect(await host.change { peer, _ in peer.device.options.imageFault } == .notPNG)
    }

    @Test("A step with a fault is checked when the device is made")
    func step() throws {
        let settings = try Simulator.led.settings(["step": "1s fault drift"])
        #expect(throws: SimulatorOptionError.self) { try FaultyDevice(LEDFirmware(), settings) }
    }
}
