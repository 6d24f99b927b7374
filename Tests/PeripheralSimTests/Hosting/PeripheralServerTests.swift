import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import Glibc
import PeripheralSim
import TestSupport
import Testing

@Suite("Devices served over BLE", .timeLimit(.minutes(5)))
struct PeripheralServerTests {
    private var pump: HM10Module<PumpFirmware> {
        HM10Module(PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34), potentiometer: 716)))
    }

    /// Lines as Arduino's `println` sends them.
    private func printed(_ lines: String...) -> String { lines.map { $0 + "\r\n" }.joined() }

    @Test("A central controls a pump behind an HM-10")
    func pumpOnRadio() async throws {
        try await withRadioBench(pump) { bench in
            let central = bench.central
            try await central.subscribe("FFE1")
            try await central.write(Array("ON\n".utf8), to: "FFE1", type: "command")
            #expect(try await central.hears("PUMP:ON\r\n", of: "FFE1") == printed("OK", "PUMP:ON"))
            // The central sends this command in parts.
            for part in ["SPEE", "D:20", "0\n"] {
                try await central.write(Array(part.utf8), to: "FFE1", type: "command")
            }
            #expect(try await central.hears("SPEED:200\r\n", of: "FFE1") == printed("OK", "SPEED:200"))
            await bench.host.advance(by: .seconds(6))
            // The first two packets of the report that is due every 5 s.
            let status = try await central.hears(40, of: "FFE1")
            #expect(status.allSatisfy { $0.count <= 20 })
            #expect(String(decoding: status.joined(), as: UTF8.self).hasPrefix("STATUS:{State:ON,Speed:78%,"))
            await bench.host.change { module, now in module.device.pressButton(at: now) }
            await bench.host.advance(by: .seconds(1))
            #expect(try await central.hears("MANUAL:OFF\r\n", of: "FFE1").hasSuffix(printed("MANUAL:OFF")))
        }
    }

    @Test("Output without a central is lost, and the next central gets replies")
    func lost() async throws {
        try await withRadioBench(pump) { bench in
            let central = bench.central
            try await central.subscribe("FFE1")
            try await central.write(Array("ON\n".utf8), to: "FFE1", type: "command")
            _ = try await central.hears("PUMP:ON\r\n", of: "FFE1")
            try await central.disconnect()
            _ = try await bench.events.wait(for: "its leaving") { events in
                events.contains { if case .disconnected = $0 { true } else { false } } ? true : nil
            }
            await bench.host.advance(by: .seconds(60))
            try await central.connect()
            try await central.write(Array("OFF\n".utf8), to: "FFE1", type: "command")
            #expect(try await central.hears("PUMP:OFF\r\n", of: "FFE1") == printed("OK", "PUMP:OFF"))
        }
    }

    @Test("Notifications arrive unchanged, in order and from their characteristic")
    func logger() async throws {
        try await withRadioBench(Logger()) { bench in
            let central = bench.central
            try await central.subscribe("FFF1")
            try await central.subscribe("FFF2")
            try await central.write(Array("GET".utf8), to: "FFF1")
            let rows = try await central.hears(Logger.rows * 2, of: "FFF1")
            #expect(rows == (0..<Logger.rows).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
            #expect(try await central.hears(3, of: "FFF2") == [Array("end".utf8)])
            #expect(try await central.read("FFF1") == [42])
            #expect(try await central.read("FFF2") == Array("end".utf8))
        }
    }

    @Test("A device that hangs up when its last output has left disconnects the central")
    func farewell() async throws {
        try await withRadioBench(Farewell(), mtu: 517) { bench in
            try await bench.central.subscribe("FFF1")
            try await bench.central.write([1], to: "FFF1")
            try await bench.central.isHungUpOn()
        }
    }

    @Test("Closing the server withdraws the device and may be repeated")
    func closing() async throws {
        try await withRadioBench(pump) { bench in
            _ = try await bench.central.read("FFE1")
            await bench.server.close()
            try await bench.central.isHungUpOn()
            #expect(await !bench.adapter.ownRadio.isAdvertising)
            #expect(await bench.adapter.ownRadio.services.isEmpty)
            await bench.server.close()
        }
    }

    @Test("fake-bluez offers a device on its second adapter and finds it from the first")
    func fakeProgram() async throws {
        let program = try await ChildProcess([Executable.path(of: "fake-bluez"), "2"])
        let address = try await program.output.line("the address of the bus")
        let bluez = try await BlueZ.open(.address(address))
        let host = DeviceHost(pump, pace: .onDemand)
        let server = try await PeripheralServer.open(host, over: bluez, on: "hci1")
        let central = try await TestCentral(on: address, for: offeredAddress)
        _ = try await central.find()
        try await central.connect()
        try await central.subscribe("FFE1")
        try await central.write(Array("OFF\n".utf8), to: "FFE1", type: "command")
        #expect(try await central.hears("PUMP:OFF\r\n", of: "FFE1") == printed("OK", "PUMP:OFF"))
        await central.close()
        await server.close()
        await bluez.close()
        await program.closeInput()
        #expect(try await program.ending().status == 0)
    }

    @Test("A signal ends fake-bluez and its bus")
    func fakeProgramSignal() async throws {
        let program = try await ChildProcess([Executable.path(of: "fake-bluez")])
        let address = try await program.output.line("the address of the bus")
        program.send(signal: SIGTERM)
        #expect(try await program.ending().status == 128 + SIGTERM)
        await #expect(throws: BLEError.self) { try await BlueZ.open(.address(address)) }
    }

    @Test(
        "fake-bluez with an invalid number of adapters exits with its usage",
        arguments: ["-1", "10", "x"])
    func fakeProgramUsage(adapters: String) async throws {
        let ending = try await ChildProcess([Executable.path(of: "fake-bluez"), adapters]).ending()
        #expect(ending.status == 64)
        #expect(ending.errors.hasPrefix("usage: "))
    }

    @Test("A device with a name that is too long is not offered")
    func longName() async throws {
        let bus = try await PrivateBus()
        let fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
        let adapter = await fake.addAdapter()
        let bluez = try await BlueZ.open(.address(bus.address))
        let name = String(repeating: "n", count: 30)
        let host = DeviceHost(HM10Module(PumpFirmware(), name: name), pace: .onDemand)
        let error = await #expect(throws: BLEError.self) { _ = try await PeripheralServer.open(host, over: bluez) }
        #expect(error?.code == .invalidArgument)
        #expect(await !adapter.ownRadio.isAdvertising)
        await bluez.close()
        await fake.stop()
    }
}

/// A device that answers a write with as much as a server takes at once, and then hangs up.
private struct Farewell: SimulatedPeripheral {
    let offered = PeripheralDescription(
        name: "Farewell", services: [LocalService("FFF0", [LocalCharacteristic("FFF1", [.write, .notify])])])
    private var emissions: [Emission] = []
    private var isLeaving = false
    private var events: [CarrierEvent] = []

    mutating func take(_ event: CentralEvent, at instant: Duration) {
        guard case .wrote = event else { return }
        let value = [UInt8](repeating: 7, count: 512)
        emissions = (0..<ClientLine.highWater / value.count).map { _ in
            Emission(bytes: value, time: instant, characteristic: "FFF1")
        }
        isLeaving = true
    }

    mutating func advance(to instant: Duration) -> [Emission] {
        if emissions.isEmpty, isLeaving {
            isLeaving = false
            events.append(CarrierEvent(action: .hangUp, time: instant))
        }
        defer { emissions = [] }
        return emissions
    }

    mutating func takeCarrierEvents() -> [CarrierEvent] {
        defer { events = [] }
        return events
    }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {}
    var nextActivity: Duration? { isLeaving ? .zero : nil }
    var isQuiescent: Bool { !isLeaving }
    mutating func reset(at instant: Duration) {}
}

/// A device that sends many rows on request, and then their end over another characteristic. A byte in between has no
/// characteristic, and must not reach the central.
private struct Logger: SimulatedPeripheral {
    static let rows = 3000

    let offered = PeripheralDescription(
        name: "Logger",
        services: [
            LocalService(
                "FFF0",
                [
                    LocalCharacteristic("FFF1", [.read, .write, .notify]),
                    LocalCharacteristic("FFF2", [.read, .notify]),
                ])
        ])
    private var emissions: [Emission] = []

    mutating func take(_ event: CentralEvent, at instant: Duration) {
        // 23 is the MTU of a ``RadioBench``.
        guard case .wrote(Array("GET".utf8), "FFF1", 23) = event else { return }
        for row in 0..<Self.rows {
            let bytes = [UInt8(row >> 8), UInt8(row & 0xFF)]
            emissions.append(Emission(bytes: bytes, time: instant, characteristic: "FFF1"))
        }
        emissions.append(Emission(bytes: [1], time: instant))
        emissions.append(Emission(bytes: Array("end".utf8), time: instant, characteristic: "FFF2"))
    }

    mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]? {
        characteristic == "FFF1" ? [42] : nil
    }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {}
    mutating func advance(to instant: Duration) -> [Emission] {
        defer { emissions = [] }
        return emissions
    }
    var nextActivity: Duration? { emissions.first?.time }
    var isQuiescent: Bool { emissions.isEmpty }
    mutating func reset(at instant: Duration) { emissions = [] }
}
