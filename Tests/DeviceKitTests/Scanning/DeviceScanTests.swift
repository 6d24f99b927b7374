import BlueZ
import DBus
import DeviceKit
import FakeBlueZ
import TestSupport
import Testing

@Suite("Device scans", .timeLimit(.minutes(5)))
struct DeviceScanTests {
    private static let pump = "00:15:83:00:00:10"
    private static let lamp = "C0:FF:EE:00:00:01"
    private static let sensor = "30:AE:A4:00:00:01"

    private let bus: PrivateBus
    private let fake: FakeBlueZ
    private let adapter: FakeAdapter
    private let bluez: BlueZ

    init() async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address)
        adapter = await fake.addAdapter()
        bluez = try await BlueZ.open(.address(bus.address))
    }

    /// Brings a device into range that advertises these services, with a signal of `strength` dBm.
    @discardableResult @Radio
    private func add(
        _ address: String, _ services: [String], name: String = "Odd", strength: Int16 = -60
    ) -> RadioDevice {
        let device = RadioDevice(address, Advertisement(name: name, services: services))
        device.signalStrength = strength
        fake.add(device)
        return device
    }

    /// Reads events up to the first change of a wanted device. A nil `change` stands for any change.
    private func untilDevice(
        _ events: inout DeviceScan.Iterator, _ change: DeviceChange? = nil,
        where isWanted: (ScannedDevice) -> Bool = { _ in true }
    ) async throws -> ScannedDevice {
        while let event = try await events.next() {
            if case .device(let found, let device, _) = event, change ?? found == found, isWanted(device) {
                return device
            }
        }
        throw NotInTime(what: "a device", state: "the scan is over")
    }

    @Test func `Each device is reported with its possible families`() async throws {
        await add(Self.pump, ["FFE0"])
        await add(Self.lamp, ["180F"])
        var events = DeviceScan(with: bluez).makeAsyncIterator()
        #expect(try await events.next() == .scanning(isAgain: false))
        let pump = try await untilDevice(&events) { "\($0.address)" == Self.pump && !$0.services.isEmpty }
        #expect(pump.name == "Odd")
        #expect(pump.fit.possible == ["pump"])
        await fake.stop()
        await bluez.close()
    }

    @Test func `A scan for a family reports only its devices, whatever other clients scan for`() async throws {
        var all = DeviceScan(with: try await BlueZ.open(.address(bus.address))).makeAsyncIterator()
        _ = try await all.next()
        var events = DeviceScan(with: bluez, for: "storm").makeAsyncIterator()
        #expect(try await events.next() == .scanning(isAgain: false))
        await add(Self.lamp, ["FFE0"])
        _ = try await untilDevice(&all) { "\($0.address)" == Self.lamp }
        await add(Self.sensor, ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"])
        let sensor = try await untilDevice(&events)
        #expect("\(sensor.address)" == Self.sensor)
        #expect(sensor.fit.possible == ["storm"])
        await fake.stop()
    }

    @Test func `Only devices that pass the filter are reported, and lost once they no longer do`() async throws {
        await add(Self.lamp, ["180F"])
        let pump = await add(Self.pump, ["FFE0"], name: "HMSoft", strength: -60)
        await add(Self.sensor, ["FFE0"], name: "HMSoft", strength: -90)
        let filter = DeviceFilter(name: "Soft", leastRSSI: -70)
        var events = DeviceScan(with: bluez, passing: filter).makeAsyncIterator()
        let found = try await untilDevice(&events, .found)
        #expect("\(found.address)" == Self.pump && found.rssi == -60)
        await Radio.run { pump.signalStrength = -80 }
        let lost = try await untilDevice(&events, .lost)
        #expect("\(lost.address)" == Self.pump)
        await fake.stop()
        await bluez.close()
    }

    @Test func `In a lasting scan an adapter that is off is an interruption`() async throws {
        await add(Self.pump, ["FFE0"])
        var events = DeviceScan(with: bluez, isLasting: true).makeAsyncIterator()
        #expect(try await events.next() == .scanning(isAgain: false))
        _ = try await untilDevice(&events, .found)
        await Radio.run { [adapter] in adapter.isPowered = false }
        _ = try await untilDevice(&events, .lost)
        guard case .interrupted(let error)? = try await events.next() else {
            Issue.record("no word of it")
            return
        }
        #expect(error.code == .adapterOff)
        await Radio.run { [adapter] in adapter.isPowered = true }
        #expect(try await events.next() == .scanning(isAgain: true))
        _ = try await untilDevice(&events, .found)
        await fake.stop()
    }

    @Test func `A lasting scan survives a second loss of the bus while it restarts`() async throws {
        await add(Self.pump, ["FFE0"])
        var events = DeviceScan(with: bluez, isLasting: true).makeAsyncIterator()
        #expect(try await events.next() == .scanning(isAgain: false))
        try await bus.restart()
        while case .device? = try await events.next() {}
        // The second scan waits for the reply to StartDiscovery until the bus is lost again.
        await Radio.run { [adapter] in adapter.discoveryDelay = .seconds(3600) }
        try await fake.restart()
        let rest = Task { [events] in
            var events = events
            return try await events.next()
        }
        _ = try await fake.calls.wait(for: "a scan that is about to begin") { calls in
            calls.count { $0.member == "StartDiscovery" } == 2 ? true : nil
        }
        try await bus.restart()
        await Radio.run { [adapter] in adapter.discoveryDelay = .zero }
        try await fake.restart()
        #expect(try await rest.value == .scanning(isAgain: true))
        await bluez.close()
        await fake.stop()
    }

    @Test func `In a single scan an adapter that is off ends the scan with its error`() async throws {
        var events = DeviceScan(with: bluez).makeAsyncIterator()
        #expect(try await events.next() == .scanning(isAgain: false))
        await Radio.run { [adapter] in adapter.isPowered = false }
        let error = await #expect(throws: BLEError.self) { while try await events.next() != nil {} }
        #expect(error?.code == .adapterOff)
        await fake.stop()
    }

    @Test func `Cancelling the reader ends the scan`() async throws {
        let scan = DeviceScan(with: bluez)
        let events = Watched(0)
        let reader = Task {
            for try await _ in scan { events.update { $0 += 1 } }
        }
        _ = try await events.wait(for: "the scan") { $0 > 0 ? true : nil }
        reader.cancel()
        try await reader.value
        _ = try await fake.calls.wait(for: "its end") { calls in
            calls.contains { $0.member == "StopDiscovery" } ? true : nil
        }
        await fake.stop()
    }
}
