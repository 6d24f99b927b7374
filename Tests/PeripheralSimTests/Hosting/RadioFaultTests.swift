import BlueZ
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import PeripheralSim
import TestSupport
import Testing

@Suite("Radio faults seen by a central", .timeLimit(.minutes(3)))
struct RadioFaultTests {
    private static func pump(_ faults: String) throws -> FaultyDevice<HM10Module<PumpFirmware>> {
        let settings = try PeripheralSimulator.pump.settings(["fault": faults])
        return FaultyDevice(HM10Module(PumpFirmware()), faults: settings.faults())
    }

    @Test("A link that drops during a write loses the rest of the write, and can be made again")
    func disconnect() async throws {
        try await withRadioBench(try Self.pump("disconnect@command:2")) { bench in
            let central = bench.central
            try await central.subscribe("FFE1")
            try await central.write(Array("ON\n".utf8), to: "FFE1", type: "command")
            _ = try await central.hears("PUMP:ON\r\n", of: "FFE1")
            try await central.write(Array("OFF\n".utf8), to: "FFE1", type: "command")
            try await central.isHungUpOn()
            #expect(await bench.host.change { device, _ in device.device.device.state } == .on)
            try await central.connect()
            try await central.subscribe("FFE1")
            try await central.write(Array("\nOFF\n".utf8), to: "FFE1", type: "command")
            #expect(try await central.hears("PUMP:OFF\r\n", of: "FFE1").hasSuffix("OK\r\nPUMP:OFF\r\n"))
        }
    }

    @Test("A write request fails if the link drops")
    func disconnectInRequest() async throws {
        let settings = try PeripheralSimulator.led.settings(["fault": "disconnect@command:1"])
        try await withRadioBench(FaultyDevice(LEDPeripheral(), faults: settings.faults())) { bench in
            await #expect(throws: (any Error).self) {
                try await bench.central.write([1], to: "957312E0-2354-11EB-9F10-FBC30A62CF38")
            }
            try await bench.central.isHungUpOn()
            #expect(await bench.host.change { device, _ in device.device.isLit } == false)
        }
    }

    @Test("A read of a silent device fails and works after its return")
    func silentRead() async throws {
        let settings = try PeripheralSimulator.led.settings(["fault": "silence=5s@command:1"])
        try await withRadioBench(FaultyDevice(LEDPeripheral(), faults: settings.faults())) { bench in
            let led = "957312E0-2354-11EB-9F10-FBC30A62CF38"
            try await bench.central.write([1], to: led)
            await #expect(throws: (any Error).self) { try await bench.central.read(led) }
            await bench.host.advance(by: .seconds(6))
            #expect(try await bench.central.read(led) == [1])
        }
    }

    @Test("A supervision timeout silences the link and then drops it")
    func supervision() async throws {
        try await withRadioBench(try Self.pump("supervision=6s@command:2")) { bench in
            let central = bench.central
            try await central.subscribe("FFE1")
            for command in ["ON\n", "STATUS\n"] {
                try await central.write(Array(command.utf8), to: "FFE1", type: "command")
                if command == "ON\n" { _ = try await central.hears("PUMP:ON\r\n", of: "FFE1") }
            }
            // The link has been silent since STATUS, so OFF does not reach the pump.
            try await central.write(Array("OFF\n".utf8), to: "FFE1", type: "command")
            await settle()
            await bench.host.advance(by: .seconds(5))
            #expect(await bench.host.change { device, _ in device.device.device.state } == .on)
            await bench.host.advance(by: .seconds(2))
            try await central.isHungUpOn()
            try await central.connect()
            try await central.subscribe("FFE1")
            try await central.write(Array("OFF\n".utf8), to: "FFE1", type: "command")
            #expect(try await central.hears("PUMP:OFF\r\n", of: "FFE1").hasSuffix("PUMP:OFF\r\n"))
        }
    }

    @Test("The early fault repeats the last notification before the subscription is confirmed")
    func early() async throws {
        try await withRadioBench(try Self.pump("early")) { bench in
            let central = bench.central
            try await central.subscribe("FFE1")
            try await central.write(Array("OFF\n".utf8), to: "FFE1", type: "command")
            _ = try await central.hears("PUMP:OFF\r\n", of: "FFE1")
            try await central.unsubscribe("FFE1")
            try await central.subscribe("FFE1")
            // The test does not wait: the value must have arrived before the reply to the subscription.
            #expect(central.notes.state.values.values.joined().map(\.self) == [Array("OK\r\nPUMP:OFF\r\n".utf8)])
        }
    }

    @Test("A host is judged over BLE")
    func judged() async throws {
        let settings = try PeripheralSimulator.led.settings(["expect": "one-in-flight,pacing=1s"])
        let board = LEDPeripheral()
        try await withRadioBench(board, judge: HostJudge(settings.expectations())) { bench in
            for value in [1, 0] as [UInt8] {
                try await bench.central.write([value], to: "957312E0-2354-11EB-9F10-FBC30A62CF38")
            }
            let verdict = await bench.host.verdict()
            #expect(verdict?.count == 1 && verdict?.findings.first?.expectation == "pacing=1s")
        }
    }
}
