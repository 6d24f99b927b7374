import DeviceTestKit
import FakeBlueZ
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl sim pump --ble", .timeLimit(.minutes(5)))
struct SimBLETests {
    /// The address of hci1, and of the offered pump.
    static let address = "00:00:5E:00:53:02"

    /// A fake bluetoothd with two adapters, for the programs of a test.
    private struct Bench {
        let bus: PrivateBus
        let fake: FakeBlueZ
        let adapter: FakeAdapter

        init() async throws {
            bus = try await PrivateBus()
            fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
            await fake.addAdapter()
            adapter = await fake.addAdapter("hci1", address: address)
        }

        /// Starts `pumpctl sim pump --ble`.
        func start(_ arguments: String...) async throws -> ChildProcess {
            try await Pumpctl.start(["sim", "pump", "--ble"] + arguments, environment: bus.environment)
        }

        func run(_ arguments: String...) async throws -> ChildProcess.Ending {
            try await Pumpctl.start(["sim", "pump", "--ble"] + arguments, environment: bus.environment).ending()
        }
    }

    @Test(
        "The simulated pump is found, answers, and is withdrawn at a signal",
        arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(CInt, Int32)])
    func serving(signal: CInt, status: Int32) async throws {
        let bench = try await Bench()
        let sim = try await bench.start("--adapter", "hci1", "--name", "Pump 7", "--unpaced")
        #expect(try await sim.output.line() == "BLE Pump 7 on hci1 (\(Self.address))")
        let central = try await TestCentral(on: bench.bus.address, for: Self.address)
        #expect(try await central.find() == "Pump 7")
        try await central.connect()
        try await central.subscribe("FFE1")
        try await central.write(Array("ON\n".utf8), to: "FFE1", type: "command")
        #expect(try await central.hears("PUMP:ON\r\n", of: "FFE1") == "OK\r\nPUMP:ON\r\n")
        sim.send(signal: signal)
        #expect(try await sim.ending().status == status)
        try await central.isHungUpOn()
        #expect(await !bench.adapter.ownRadio.isAdvertising)
        #expect(await bench.adapter.ownRadio.services.isEmpty)
        await central.close()
        await bench.fake.stop()
    }

    @Test("--json reports the address, connections and interruptions")
    func records() async throws {
        let bench = try await Bench()
        let sim = try await bench.start("--adapter", Self.address, "--json")
        func record() async throws -> NSDictionary {
            let line = try await sim.output.line()
            return try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
        }
        let ready: NSDictionary = [
            "ok": true, "event": "ready", "name": "HMSoft", "adapter": "hci1", "address": Self.address,
            "port": "ble:\(Self.address)", "pid": Int(sim.processID),
        ]
        #expect(try await record() == ready)
        let central = try await TestCentral(on: bench.bus.address, for: Self.address)
        #expect(try await central.find() == "HMSoft")
        try await central.connect()
        let connected: NSDictionary = [
            "ok": true, "event": "connected", "name": "HMSoft", "central": "00:00:5E:00:53:01",
        ]
        #expect(try await record() == connected)
        await bench.adapter.setPower(false)
        #expect(try await record()["event"] as? String == "disconnected")
        let off: NSDictionary = ["ok": false, "event": "interrupted", "name": "HMSoft", "error": "adapter_off"]
        #expect(try await record() == off)
        await bench.adapter.setPower(true)
        #expect(try await record() == ready)
        sim.send(signal: SIGTERM)
        let ending = try await sim.ending()
        #expect(ending.errors.contains("the Bluetooth adapter is off"), "\(ending.errors)")
        await central.close()
        await bench.fake.stop()
    }

    @Test("The pump is offered again after a restart of the bus")
    func restartedBus() async throws {
        let bench = try await Bench()
        let sim = try await bench.start("--adapter", "hci1")
        #expect(try await sim.output.line() == "BLE HMSoft on hci1 (\(Self.address))")
        try await bench.bus.restart { try await sim.errors.text(upTo: "the system bus has gone") }
        try await bench.fake.restart()
        #expect(try await sim.output.line() == "BLE HMSoft on hci1 (\(Self.address))")
        let central = try await TestCentral(on: bench.bus.address, for: Self.address)
        #expect(try await central.find() == "HMSoft")
        try await central.connect()
        try await central.subscribe("FFE1")
        try await central.write(Array("OFF\n".utf8), to: "FFE1", type: "command")
        #expect(try await central.hears("PUMP:OFF\r\n", of: "FFE1") == "OK\r\nPUMP:OFF\r\n")
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
        await central.close()
        await bench.fake.stop()
    }

    @Test("An unusable adapter, name or bluetoothd is reported with a hint")
    func refused() async throws {
        let bench = try await Bench()
        expectFailure(
            try await bench.run("--adapter", "hci9"), 66, saying: "hci9", hint: "choose one of: hci0, hci1")
        let name = String(repeating: "n", count: 30)
        expectFailure(
            try await bench.run("--name", name), 64, saying: "30 bytes", "limit is 29", hint: "choose a shorter name")
        await bench.adapter.setPower(false)
        expectFailure(try await bench.run("--adapter", "hci1"), 69, saying: "is off", hint: "bluetoothctl power on")
        await bench.fake.stop()
        expectFailure(try await bench.run(), 69, saying: "bluetoothd is not running", hint: "start bluetoothd")
    }

    @Test(
        "sim pump --ble refuses conflicting options",
        arguments: [
            ["--ble", "--pty"], ["--ble", "--tcp", "0"], ["--ble", "--link", "/tmp/x"], ["--adapter", "hci1"],
            ["--name", "Pump"],
        ])
    func wrongOptions(options: [String]) async throws {
        expectFailure(
            try await Pumpctl.start(["sim", "pump"] + options).ending(), 64, saying: "pumpctl: ", hint: "pumpctl sim")
    }
}

extension FakeAdapter {
    fileprivate func setPower(_ isOn: Bool) { isPowered = isOn }
}
