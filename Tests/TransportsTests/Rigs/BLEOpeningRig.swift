import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import LineProtocol
import TestSupport

@testable import Transports

/// A fake bluetoothd, and the BLE devices in its range, which the test adds.
struct BLEOpeningRig {
    let bus: PrivateBus
    let fake: FakeBlueZ
    let clock = ManualClock()
    private let others = Watched<[(BlueZ, BLESequence<ScanEvent>)]>([])

    init() async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        await fake.addAdapter()
    }

    /// Opens a link. If the endpoint has a name, advances the clock by the time of the search for other devices with
    /// this name.
    func open(_ text: String, _ memory: (any BLENameMemory)? = nil) async throws -> any Link {
        guard case .name = try BLEEndpoint(Endpoint(text), among: .devices).target else {
            return try await openAtOnce(text, memory)
        }
        return try await open(text, memory, after: clock.now.offset + BLESearch.window)
    }

    /// Opens a link without advancing the clock.
    func openAtOnce(_ text: String, _ memory: (any BLENameMemory)? = nil) async throws -> any Link {
        try await BLEEndpoint.open(
            Endpoint(text), on: .shared, bus: .address(bus.address), clock: clock,
            as: BLEUse(profiles: .devices, memory: memory))
    }

    /// Opens a link within a time limit.
    func open(
        _ text: String, within limit: Duration, _ steps: Watched<[BLEOpeningStep]>? = nil
    ) async throws -> any Link {
        let use = BLEUse(profiles: .devices, openingLimit: limit) { step in steps?.update { $0.append(step) } }
        return try await BLEEndpoint.open(
            Endpoint(text), on: .shared, bus: .address(bus.address), clock: clock, as: use)
    }

    /// Opens a link to the first device by its address, for a persistent use.
    func openPersistently(within limit: Duration? = nil) async throws -> any Link {
        try await BLEEndpoint.open(
            Endpoint("ble:C0:FF:EE:00:00:01"), on: .shared, bus: .address(bus.address), clock: clock,
            as: BLEUse(profiles: .devices, openingLimit: limit, isPersistent: true))
    }

    /// Opens a link, and advances the clock to `time` once the opening sleeps until then.
    func open(
        _ text: String, _ memory: (any BLENameMemory)? = nil, after time: Duration
    ) async throws -> any Link {
        let opening = Task { try await openAtOnce(text, memory) }
        await clock.untilSomebodySleeps(until: time)
        clock.advance(by: time - clock.now.offset)
        return try await opening.value
    }

    /// Waits until a client has called a method.
    func untilCalled(_ member: String) async throws {
        _ = try await fake.calls.wait(for: "a call of \(member)") { calls in
            calls.contains { $0.member == member } ? true : nil
        }
    }

    /// The number of calls of a method by clients.
    func calls(of member: String) async -> Int { await fake.calls.state.count { $0.member == member } }

    /// Lets another program scan until bluetoothd knows `count` devices, and keep scanning.
    func makeKnown(_ count: Int) async throws {
        let other = try await BlueZ.open(.address(bus.address), clock: clock)
        let scan = try await other.scan()
        var known: Set<BluetoothAddress> = []
        for try await event in scan {
            let report: DeviceReport
            switch event {
            case .found(let found): report = found
            case .changed(let changed): report = changed
            case .lost: continue
            }
            if report.name != nil, report.rssi != nil, !report.services.isEmpty { known.insert(report.address) }
            if known.count == count { break }
        }
        others.update { $0.append((other, scan)) }
    }

    /// Adds a device with one service. `number` is the last digit of its address.
    @discardableResult
    func add(
        _ number: Int, _ name: String, _ service: String, _ characteristics: [(String, [RadioCharacteristic.Flag])],
        strength: Int16 = -60
    ) async -> RadioDevice {
        await fake.addDevice(number, name, service, characteristics, strength)
    }

    func addPump(_ number: Int = 1, _ name: String = "HMSoft", strength: Int16 = -60) async -> RadioDevice {
        await add(
            number, name, "FFE0", [("FFE1", [.read, .writeWithoutResponse, .notify])], strength: strength)
    }
}

/// Returns the error that opening a link throws.
func failure(_ body: () async throws -> any Link) async -> LinkError? {
    do { _ = try await body() } catch { return error as? LinkError }
    return nil
}

extension FakeBlueZ {
    func addDevice(
        _ number: Int, _ name: String, _ service: String, _ characteristics: [(String, [RadioCharacteristic.Flag])],
        _ strength: Int16
    ) -> RadioDevice {
        let radio = RadioDevice("C0:FF:EE:00:00:0\(number)", Advertisement(name: name, services: [service]))
        radio.signalStrength = strength
        radio.services = [RadioService(service, characteristics.map { RadioCharacteristic($0.0, $0.1) })]
        add(radio)
        return radio
    }
}
