import BlueZ
import FirmwareSim
import PeripheralSim
import Testing

@Suite("Faults of a device over BLE")
struct FaultyPeripheralTests {
    private static let written: [UInt8] = Array("OFF\n".utf8)

    /// The notifications of a pump behind an HM-10 in reply to OFF.
    private static func notifications(_ faults: String, seed: UInt64 = 1) throws -> [Emission] {
        let settings = try PeripheralSimulator.pump.settings(["fault": faults])
        var device = FaultyDevice(HM10Module(PumpFirmware()), faults: settings.faults(), seed: seed)
        device.take(.connected, at: .zero)
        device.take(.subscribed("FFE1"), at: .zero)
        device.take(.wrote(written, to: "FFE1", mtu: 23), at: .zero)
        return (1...5).flatMap { device.advance(to: .seconds($0)) }
    }

    private static func text(_ emissions: [Emission]) -> String {
        String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
    }

    @Test("Without a fault notifications are unchanged")
    func none() throws {
        let notifications = try Self.notifications("none")
        #expect(Self.text(notifications) == "OK\r\nPUMP:OFF\r\n" && notifications.count == 1)
        #expect(notifications.allSatisfy { $0.characteristic == "FFE1" })
    }

    @Test("The lost fault drops a notification")
    func lost() throws {
        #expect(try Self.notifications("lost@always").isEmpty)
    }

    @Test("The duplicate fault repeats a notification")
    func duplicate() throws {
        let notifications = try Self.notifications("duplicate@always")
        #expect(notifications.map(\.bytes) == Array(repeating: Array("OK\r\nPUMP:OFF\r\n".utf8), count: 2))
    }

    @Test("The split fault sends a notification in two parts of the same characteristic")
    func split() throws {
        let notifications = try Self.notifications("split=300ms@always")
        #expect(notifications.count == 2 && Self.text(notifications) == "OK\r\nPUMP:OFF\r\n")
        #expect(notifications[1].time - notifications[0].time == .milliseconds(300))
        #expect(notifications.allSatisfy { $0.characteristic == "FFE1" })
    }

    @Test("A notification during which the device becomes silent is lost whole")
    func silenceInside() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            #expect(try Self.notifications("silence=60s@always", seed: seed).isEmpty)
        }
    }

    @Test("Noise is notified on subscribing and after a reset, cut to a packet of 20 bytes")
    func noise() throws {
        let settings = try PeripheralSimulator.pump.settings(["fault": "noise"])
        var device = FaultyDevice(HM10Module(PumpFirmware()), faults: settings.faults())
        device.take(.connected, at: .zero)
        #expect(device.advance(to: .seconds(1)).isEmpty)
        device.take(.subscribed("FFE1"), at: .seconds(1))
        // With this seed the noise has 22 bytes on subscribing, of which the packet holds 20; and 2 after the reset.
        #expect(device.advance(to: .seconds(1)).map(\.bytes.count) == [20])
        device.reset(at: .seconds(2))
        let notifications = device.advance(to: .seconds(2))
        #expect(notifications.map(\.bytes) == [[132, 73]])
        #expect(notifications.allSatisfy { $0.characteristic == "FFE1" })
    }

    @Test("A running device accepts radio faults and refuses line faults")
    func replaced() async throws {
        let settings = try PeripheralSimulator.led.settings()
        let host = DeviceHost(try FaultyDevice(LEDPeripheral(), settings), pace: .onDemand)
        try await host.handle.perform("fault", ["lost@always"])
        let error = await #expect(throws: DeviceVerbError.self) { try await host.handle.perform("fault", ["drop"]) }
        #expect(error?.description == "the fault drop needs a line: BLE has no cable, and checks its packets")
        #expect(await host.handle.observe()["faults"] == .text("lost@always"))
    }

    @Test("A write to a silent device has no effect")
    func silence() throws {
        let settings = try PeripheralSimulator.led.settings(["fault": "silence=5s@command:1"])
        var device = FaultyDevice(LEDPeripheral(), faults: settings.faults())
        device.take(.wrote([1], to: LEDPeripheral.led, mtu: 23), at: .zero)
        // The device handles the first write, but its notification is lost: the silence has begun.
        #expect(device.advance(to: .seconds(1)).isEmpty)
        device.take(.wrote([0], to: LEDPeripheral.led, mtu: 23), at: .seconds(2))
        #expect(device.device.isLit)
        device.take(.wrote([0], to: LEDPeripheral.led, mtu: 23), at: .seconds(6))
        #expect(!device.device.isLit)
        #expect(device.advance(to: .seconds(6)).map(\.bytes) == [[0]])
    }
}
