import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import TestSupport

@testable import BlueZ

/// A fake bluetoothd with two adapters. The library under test offers a device on hci1 to a central on hci0.
struct PeripheralBench: Sendable {
    /// The address of hci1.
    static let address = "00:00:5E:00:53:02"
    /// The address of hci0.
    static let centralAddress = BluetoothAddress("00:00:5E:00:53:01")

    let bus: PrivateBus
    let fake: FakeBlueZ
    let adapter: FakeAdapter
    let clock = ManualClock()
    let bluez: BlueZ
    let central: TestCentral
    let events = Watched<[PeripheralEvent]>([])
    /// The written values, each with its request.
    let written = Watched<[(bytes: [UInt8], uuid: BluetoothUUID, request: ATTRequest)]>([])

    init() async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        await fake.addAdapter()
        adapter = await fake.addAdapter("hci1", address: Self.address)
        bluez = try await BlueZ.open(.address(bus.address), on: .shared, clock: clock)
        central = try await TestCentral(on: bus.address, for: Self.address)
    }

    func close() async {
        await central.close()
        await bluez.close()
        await fake.stop()
    }

    /// Handlers that record the writes and the events.
    var handlers: PeripheralHandlers {
        PeripheralHandlers(
            write: { [written] bytes, uuid, request in written.update { $0.append((bytes, uuid, request)) } },
            event: { [events] event in events.update { $0.append(event) } })
    }

    func offer(_ description: PeripheralDescription = .module) async throws -> Peripheral {
        try await bluez.offer(description, on: "hci1", handlers: handlers)
    }

    /// Offers a device and connects the central to it.
    func offerAndConnect(_ description: PeripheralDescription = .module) async throws -> Peripheral {
        let peripheral = try await offer(description)
        _ = try await central.find()
        try await central.connect()
        return peripheral
    }

    /// Waits until every earlier message of bluetoothd has arrived.
    func settle() async throws {
        try await bluez.call(BlueZName.root, BlueZName.peer, "Ping", activity: "settling")
    }

    /// Waits for an event that fits; discards this event and the events before.
    func happens(_ what: String, _ fits: @escaping @Sendable (PeripheralEvent) -> Bool) async throws {
        _ = try await events.wait(for: what) { events in
            guard let index = events.firstIndex(where: fits) else { return nil as Bool? }
            events.removeFirst(index + 1)
            return true
        }
    }

    /// Waits until the device is offered.
    func isOffered() async throws {
        try await happens("the device to be offered") { if case .offered = $0 { true } else { false } }
    }

    /// Waits until the offer is interrupted with this error.
    func isInterrupted(_ code: BLEError.Code) async throws {
        try await happens("an interruption: \(code)") {
            if case .interrupted(let error) = $0 { error.code == code } else { false }
        }
    }
}

func withPeripheralBench(_ body: (PeripheralBench) async throws -> Void) async throws {
    let bench = try await PeripheralBench()
    do {
        try await body(bench)
    } catch {
        await bench.close()
        throw error
    }
    await bench.close()
}

extension PeripheralDescription {
    /// The services of an HM-10.
    static let module = PeripheralDescription(
        name: "HMSoft",
        services: [
            LocalService("FFE0", [LocalCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])])
        ])

    /// One characteristic that all centrals share, and one that is notified to each central separately.
    static let lamp = PeripheralDescription(
        name: "Lamp",
        services: [
            LocalService(
                "FFF0",
                [
                    LocalCharacteristic("FFF1", [.read, .write, .notify], value: [0]),
                    LocalCharacteristic("FFF2", [.write, .writeWithoutResponse, .notify], delivery: .toEach),
                ])
        ])
}

extension FakeAdapter {
    func setPower(_ isOn: Bool) { isPowered = isOn }
    func setLimit(_ limit: Int) { advertisementLimit = limit }
    func setRestoring(_ restores: Bool) { restoresAdvertisements = restores }
    func setMTU(_ mtu: Int) { ownRadio.manners.mtu = mtu }
    func remember() { ownRadio.manners.remembersSubscriptions = true }
    /// Whether the adapter advertises, and the number of services that it offers.
    var registrations: (advertises: Bool, services: Int) { (ownRadio.isAdvertising, ownRadio.services.count) }
}
