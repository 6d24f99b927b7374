import DBus
import DeviceTestKit
import TestSupport
import Testing

@testable import BlueZ
@testable import FakeBlueZ

@Suite("The mirror of bluetoothd's objects", .timeLimit(.minutes(5)))
struct MirrorKeeperTests {
    @Test func `A notification in one signal with another change is delivered, and the change stored`() async throws {
        try await withBench { bench in
            _ = await bench.addModule()
            let device = try await bench.bluez.device(module).connect()
            let values = try await device.notifications(of: try device.characteristic("FFE1", of: "FFE0"))
            let line = try #require(await bench.bluez.characteristic())
            #expect(line.isNotifying == true)
            try await bench.fake.tell(line.path, ["Value": .bytes([7]), "Notifying": .boolean(false)])
            #expect(try await values.next() == [7])
            #expect(await bench.bluez.characteristic()?.isNotifying == false)
        }
    }

    @Test func `A device that bluetoothd forgot after a scan is scanned for again`() async throws {
        try await withBench { bench in
            let radio = try await hearOnce(on: bench)
            try await bench.settle()
            await bench.adapter.forget(radio)
            // bluetoothd gets to know the device again through another program, and not by an advertisement.
            await bench.adapter.know(radio)
            try await bench.settle()
            #expect(try await bench.bluez.device(module).report != nil)
            _ = try await bench.bluez.device(module).connect()
            #expect(await bench.calls(of: "StartDiscovery") == 2)
        }
    }

    @Test func `The pairing agent is registered again after bluetoothd restarts`() async throws {
        try await withBench { bench in
            let radio = try await hearOnce(on: bench)
            try await bench.settle()
            try await bench.bluez.device(module).pair()
            try await bench.fake.restart { try await bench.untilGone() }
            try await bench.untilBack()
            await bench.adapter.know(radio)
            try await bench.settle()
            try await bench.bluez.device(module).pair()
            #expect(await bench.calls(of: "RegisterAgent") == 2)
        }
    }

    @Test func `A bluetoothd without objects is asked again after each return of the bus`() async throws {
        try await withBench { bench in
            var (now, bluetoothd): (Duration, DBusConnection?) = (.zero, nil)
            func pass(_ milliseconds: Int) async {
                now += .milliseconds(milliseconds)
                await bench.clock.untilSomebodySleeps(until: now)
                bench.clock.advance(by: .milliseconds(milliseconds))
            }
            for _ in 0..<2 {
                try await bench.bus.restart { try await bench.untilGone() }
                bluetoothd = try await DBusConnection.open(.address(bench.bus.address))
                #expect(try await bluetoothd?.requestName("org.bluez") == .owner)
                // The pause before the client connects again, and the pauses before it asks again.
                for pause in [250, 250, 500, 1000, 2000] { await pass(pause) }
            }
            await bluetoothd?.close()
        }
    }

    @Test func `A device heard before bluetoothd restarted is scanned for again`() async throws {
        try await withBench { bench in
            let radio = try await hearOnce(on: bench)
            try await bench.fake.restart { try await bench.untilGone() }
            try await bench.untilBack()
            await bench.adapter.know(radio)
            try await bench.settle()
            #expect(try await bench.bluez.device(module).report != nil)
            _ = try await bench.bluez.device(module).connect()
            #expect(await bench.calls(of: "StartDiscovery") == 2)
        }
    }
}

/// Adds a module, and runs a scan until the module is heard.
private func hearOnce(on bench: Bench) async throws -> RadioDevice {
    let radio = await bench.addModule()
    let scan = try await bench.bluez.scan()
    #expect(try await scan.next()?.text.hasPrefix("found") == true)
    scan.cancel()
    try await bench.untilCalled("StopDiscovery")
    return radio
}

private let interface = "org.bluez.GattCharacteristic1"

extension BlueZ {
    /// The module's characteristic, and bluetoothd's report of whether it notifies.
    fileprivate func characteristic() -> (path: ObjectPath, isNotifying: Bool?)? {
        keeper.mirror.objects(with: interface)
            .first { _, properties in properties["UUID"]?.string?.hasPrefix("0000ffe1") == true }
            .map { path, properties in (path, properties["Notifying"]?.boolean) }
    }
}

extension FakeBlueZ {
    /// Signals changes of a characteristic in one message, as bluetoothd does for changes at the same moment.
    fileprivate func tell(_ path: ObjectPath, _ properties: [String: DBusValue]) async throws {
        try await connection?.emitPropertiesChanged(path, interface, properties)
    }
}

extension FakeAdapter {
    fileprivate func forget(_ radio: RadioDevice) {
        if let device = devices[radio.address] { remove(device) }
    }

    /// Adds a device that is not heard.
    fileprivate func know(_ radio: RadioDevice) async {
        let device = KnownDevice(radio, on: self)
        devices[radio.address] = device
        await device.publish()
    }
}
