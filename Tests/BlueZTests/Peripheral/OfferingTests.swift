import BlueZ
import DBus
import DeviceTestKit
import FakeBlueZ
import TestSupport
import Testing

@Suite("Offered devices", .timeLimit(.minutes(5)))
struct OfferingTests {
    @Test func `An offered device is found by its name, with the declared flags`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offer()
            try await bench.isOffered()
            #expect(try await bench.central.find() == "HMSoft")
            try await bench.central.connect()
            #expect(try await bench.central.flags("FFE1").sorted() == ["notify", "read", "write-without-response"])
            try await bench.happens("the central") { $0 == PeripheralBench.centralAddress.map { .connected($0) } }
            #expect(await peripheral.isConnected)
            await peripheral.close()
        }
    }

    @Test func `Closing an offered device withdraws it and disconnects its centrals`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offerAndConnect()
            try await bench.central.write([1], to: "FFE1", type: "command")
            _ = try await bench.written.wait(for: "a write") { $0.isEmpty ? nil : true }
            await peripheral.close()
            try await bench.central.isHungUpOn()
            #expect(await bench.adapter.registrations == (false, 0))
            await peripheral.close()
            let error = await #expect(throws: BLEError.self) { try await peripheral.notify([1], on: "FFE1") }
            #expect(error?.code == .closed)
            // The same device can be offered again.
            await (try await bench.offer()).close()
        }
    }

    @Test func `Closing in a cancelled task still withdraws the device`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offer()
            let closing = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await peripheral.close()
            }
            await closing.value
            #expect(await bench.adapter.registrations == (false, 0))
        }
    }

    @Test func `An oversized advertisement or a duplicate characteristic is refused before registering`() async throws {
        try await withPeripheralBench { bench in
            let services: [BluetoothUUID] = [AdvertisementBudgetTests.long, AdvertisementBudgetTests.other]
            let description = PeripheralDescription(name: "X", services: services.map { LocalService($0, []) })
            let error = await #expect(throws: BLEError.self) { _ = try await bench.offer(description) }
            #expect(error?.code == .invalidArgument)
            let twice = PeripheralDescription(
                name: "X", services: [LocalService("FFF0", [.init("FFF1", [.read]), .init("FFF1", [.write])])])
            let other = await #expect(throws: BLEError.self) { _ = try await bench.offer(twice) }
            #expect(other?.message?.contains("two characteristics have the UUID FFF1") == true)
            #expect(!(await bench.fake.calls).state.contains { $0.member.hasPrefix("Register") })
        }
    }

    @Test func `A device is offered on the named adapter; an unknown name lists the existing ones`() async throws {
        try await withPeripheralBench { bench in
            let byAddress = try await bench.bluez.offer(.module, on: PeripheralBench.address.lowercased())
            #expect("\(byAddress.adapter)" == PeripheralBench.address)
            await byAddress.close()
            let error = await #expect(throws: BLEError.self) { _ = try await bench.bluez.offer(.module, on: "hci7") }
            #expect(error?.code == .noAdapter)
            #expect(error?.hint == "choose one of: hci0, hci1")
        }
    }

    @Test func `Offering fails with a reason if the adapter is off or full, and leaves nothing registered`()
        async throws
    {
        try await withPeripheralBench { bench in
            await bench.adapter.setLimit(0)
            let busy = await #expect(throws: BLEError.self) { _ = try await bench.offer() }
            #expect(busy?.code == .busy)
            #expect(busy?.hint?.contains("stop a program that advertises") == true)
            #expect(await bench.adapter.registrations == (false, 0))
            await bench.adapter.setLimit(5)
            await bench.adapter.setPower(false)
            try await bench.settle()
            let off = await #expect(throws: BLEError.self) { _ = try await bench.offer() }
            #expect(off?.code == .adapterOff)
        }
    }

    @Test func `The device is offered again after bluetoothd returns`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offer()
            try await bench.isOffered()
            try await bench.fake.restart {
                try await bench.isInterrupted(.notRunning)
                #expect(await !peripheral.isOffered)
                #expect(try await !peripheral.notify([1], on: "FFE1"))
            }
            try await bench.isOffered()
            #expect(await bench.adapter.registrations == (true, 1))
            #expect(try await bench.central.find() == "HMSoft")
            await peripheral.close()
        }
    }

    @Test func `The device is offered again over a new connection after the bus returns`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offer()
            try await bench.isOffered()
            try await bench.bus.restart { try await bench.isInterrupted(.noBus) }
            #expect(await !peripheral.isOffered)
            try await bench.fake.restart()
            await bench.clock.untilSomebodySleeps(until: .milliseconds(250))
            bench.clock.advance(by: .milliseconds(250))
            try await bench.isOffered()
            #expect(await bench.adapter.registrations == (true, 1))
            let central = try await TestCentral(on: bench.bus.address, for: PeripheralBench.address)
            #expect(try await central.find() == "HMSoft")
            try await central.connect()
            try await central.subscribe("FFE1")
            #expect(try await peripheral.notify([1, 2], on: "FFE1"))
            #expect(try await central.hears(2, of: "FFE1") == [[1, 2]])
            await central.close()
            await peripheral.close()
            #expect(await bench.adapter.registrations == (false, 0))
        }
    }

    @Test(arguments: [true, false])
    func `The device is offered again after the adapter is switched on`(bluetoothdRestores: Bool) async throws {
        try await withPeripheralBench { bench in
            await bench.adapter.setRestoring(bluetoothdRestores)
            let peripheral = try await bench.offer()
            try await bench.isOffered()
            await bench.adapter.setPower(false)
            try await bench.isInterrupted(.adapterOff)
            #expect(await !peripheral.isOffered)
            await bench.adapter.setPower(true)
            try await bench.isOffered()
            #expect(await bench.adapter.registrations == (true, 1))
            #expect(try await bench.central.find() == "HMSoft")
            await peripheral.close()
        }
    }

    @Test func `The offer follows its adapter to another number`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offer()
            try await bench.isOffered()
            await bench.fake.renumber(bench.adapter, to: "hci4")
            try await bench.isInterrupted(.noAdapter)
            try await bench.isOffered()
            #expect(await bench.adapter.registrations == (true, 1))
            await peripheral.close()
            #expect(await bench.adapter.registrations == (false, 0))
        }
    }

    @Test func `A refused renewal of the offer is retried`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offer()
            try await bench.isOffered()
            await bench.adapter.setRestoring(false)
            await bench.adapter.setPower(false)
            try await bench.isInterrupted(.adapterOff)
            await bench.adapter.setLimit(0)
            await bench.adapter.setPower(true)
            try await bench.isInterrupted(.busy)
            await bench.adapter.setLimit(1)
            // The first pause before a new attempt.
            await bench.clock.untilSomebodySleeps(until: .milliseconds(250))
            bench.clock.advance(by: .milliseconds(250))
            try await bench.isOffered()
            await peripheral.close()
        }
    }

    @Test func `An independent client sees the offer as a GATT application`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offer(.lamp)
            let sender = try #require(
                (await bench.fake.calls).state.first { $0.member == "RegisterApplication" }?.client)
            let root = try await bench.bus.run([
                "gdbus", "introspect", "--session", "--recurse", "--dest", sender, "--object-path", "/",
            ])
            let manager = try #require(root.output.firstMatch(of: /node (\/peripheral[0-9]+)\/application/)?.1)
            func call(_ path: String, _ method: String, _ arguments: String...) async throws -> String {
                let command = ["gdbus", "call", "--session", "--dest", sender, "--object-path", "\(manager)/\(path)"]
                let ending = try await bench.bus.run(command + ["--method", method] + arguments)
                return ending.output + ending.errors
            }
            let all = try await call("application", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
            #expect(all.contains("'UUID': <'0000fff1-0000-1000-8000-00805f9b34fb'>"), "\(all)")
            #expect(all.contains("'Flags': <['notify', 'read', 'write']>"))
            #expect(all.contains("'NotifyAcquired': <false>"))
            #expect(!all.contains("advertisement"))
            let advertisement = try await call(
                "advertisement", "org.freedesktop.DBus.Properties.GetAll", "org.bluez.LEAdvertisement1")
            #expect(advertisement.contains("'LocalName': <'Lamp'>"), "\(advertisement)")
            #expect(advertisement.contains("'Discoverable': <true>"))
            let item = "application/service0/char0"
            let write = try await call(item, "org.bluez.GattCharacteristic1.WriteValue", "[byte 7]", "{}")
            #expect(write == "()\n")
            let read = try await call(item, "org.bluez.GattCharacteristic1.ReadValue", "{}")
            #expect(read == "([byte 0x07],)\n")
            let beyond = try await call(
                item, "org.bluez.GattCharacteristic1.ReadValue", "{'offset': <uint16 2>}")
            #expect(beyond.contains("org.bluez.Error.InvalidOffset"))
            let forbidden = try await call(
                "application/service0/char1", "org.bluez.GattCharacteristic1.ReadValue", "{}")
            #expect(forbidden.contains("org.bluez.Error.NotPermitted"))
            await peripheral.close()
        }
    }
}
