import BlueZ
import DBus
import FakeBlueZ
import TestSupport
import Testing

@Suite("Centrals of an offered device", .timeLimit(.minutes(5)))
struct CentralsTests {
    @Test func `Writes without response arrive in order, with the central's address and MTU`() async throws {
        try await withPeripheralBench { bench in
            await bench.adapter.setMTU(100)
            let peripheral = try await bench.offerAndConnect()
            // Until a write tells the MTU, the least one counts, which is 23. A notification holds 3 bytes less.
            #expect(await peripheral.notificationLength == 20)
            for number in UInt8(0)..<20 { try await bench.central.write([number], to: "FFE1", type: "command") }
            let written = try await bench.written.wait(for: "20 writes") { $0.count == 20 ? $0 : nil }
            #expect(written.flatMap(\.bytes) == Array(0..<20))
            let request = ATTRequest(central: PeripheralBench.centralAddress, mtu: 100, kind: .command)
            #expect(written.allSatisfy { $0.uuid == "FFE1" && $0.request == request })
            #expect(await peripheral.notificationLength == 97)
            await peripheral.close()
        }
    }

    @Test func `A central writes with response and reads the current value`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offerAndConnect(.lamp)
            #expect(try await bench.central.read("FFF1") == [0])
            try await bench.central.write([1, 2, 3], to: "FFF1")
            #expect(bench.written.state.first?.request.kind == .request)
            #expect(try await bench.central.read("FFF1") == [1, 2, 3])
            await peripheral.setValue([9], of: "FFF1")
            #expect(try await bench.central.read("FFF1") == [9])
            await peripheral.close()
        }
    }

    @Test func `A write or read that the device refuses fails at the central`() async throws {
        try await withPeripheralBench { bench in
            let handlers = PeripheralHandlers(
                write: { bytes, _, _ throws(ATTError) in if bytes.count != 1 { throw .invalidLength } },
                read: { _, _ throws(ATTError) in throw .notAuthorized })
            let peripheral = try await bench.bluez.offer(.lamp, on: "hci1", handlers: handlers)
            _ = try await bench.central.find()
            try await bench.central.connect()
            try await bench.central.write([1], to: "FFF1")
            let length = await #expect(throws: DBusError.self) { try await bench.central.write([1, 2], to: "FFF1") }
            #expect(length?.name != nil)
            let read = await #expect(throws: DBusError.self) { try await bench.central.read("FFF1") }
            #expect(read?.name != nil)
            await peripheral.close()
        }
    }

    @Test func `A central receives notifications only while it is subscribed`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offer()
            #expect(try await !peripheral.notify([0], on: "FFE1"))
            _ = try await bench.central.find()
            try await bench.central.connect()
            try await bench.central.subscribe("FFE1")
            try await bench.happens("the subscription") { $0 == .subscribed("FFE1") }
            #expect(try await peripheral.notify([1], on: "FFE1"))
            #expect(try await bench.central.hears(1, of: "FFE1") == [[1]])
            try await bench.central.unsubscribe("FFE1")
            try await bench.happens("its end") { $0 == .unsubscribed("FFE1") }
            try await peripheral.notify([2], on: "FFE1")
            try await peripheral.flush()
            try await bench.central.subscribe("FFE1")
            try await bench.happens("the next subscription") { $0 == .subscribed("FFE1") }
            try await peripheral.notify([3], on: "FFE1")
            #expect(try await bench.central.hears(1, of: "FFE1") == [[3]])
            try await bench.central.disconnect()
            try await bench.happens("its leaving") { if case .disconnected = $0 { true } else { false } }
            #expect(try await !peripheral.notify([4], on: "FFE1"))
            await peripheral.close()
        }
    }

    @Test func `A central receives 2,000 notifications in order`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offerAndConnect()
            try await bench.central.subscribe("FFE1")
            for number in 0..<2000 {
                try await peripheral.notify([UInt8(number >> 8), UInt8(number & 0xFF)], on: "FFE1")
            }
            try await peripheral.flush()
            let values = try await bench.central.hears(4000, of: "FFE1")
            let sent = (0..<2000).map { (number: Int) -> [UInt8] in [UInt8(number >> 8), UInt8(number & 0xFF)] }
            #expect(values == sent)
            await peripheral.close()
        }
    }

    @Test func `A returning central is notified although bluetoothd does not report its subscription`() async throws {
        try await withPeripheralBench { bench in
            await bench.adapter.remember()
            let peripheral = try await bench.offerAndConnect()
            try await bench.central.subscribe("FFE1")
            try await bench.central.disconnect()
            try await bench.happens("its leaving") { if case .disconnected = $0 { true } else { false } }
            try await bench.central.connect()
            try await bench.happens("its return") { if case .connected = $0 { true } else { false } }
            #expect(try await peripheral.notify([7], on: "FFE1"))
            #expect(try await bench.central.hears(1, of: "FFE1") == [[7]])
            await peripheral.close()
        }
    }

    @Test func `A per-central characteristic notifies and is written over its own sockets`() async throws {
        try await withPeripheralBench { bench in
            let peripheral = try await bench.offerAndConnect(.lamp)
            #expect(try await !peripheral.notify([0], on: "FFF2"))
            try await bench.central.subscribe("FFF2")
            try await bench.happens("the subscription") { $0 == .subscribed("FFF2") }
            for number in UInt8(0)..<200 {
                #expect(try await peripheral.notify([number], on: "FFF2", to: PeripheralBench.centralAddress))
            }
            #expect(try await bench.central.hears(200, of: "FFF2") == (0..<200).map { [$0] })
            #expect(try await !peripheral.notify([1], on: "FFF2", to: BluetoothAddress("00:00:5E:00:53:77")))
            for number in UInt8(0)..<50 { try await bench.central.write([number, 1], to: "FFF2", type: "command") }
            let written = try await bench.written.wait(for: "50 writes") { $0.count == 50 ? $0 : nil }
            #expect(written.map(\.bytes) == (0..<50).map { [$0, 1] })
            #expect(written.first?.request.central == PeripheralBench.centralAddress)
            try await bench.central.disconnect()
            try await bench.happens("its end") { $0 == .unsubscribed("FFF2") }
            #expect(try await !peripheral.notify([1], on: "FFF2"))
            await peripheral.close()
        }
    }

    @Test func `Notifying an unknown characteristic, or one without notify, is refused`() async throws {
        try await withPeripheralBench { bench in
            let description = PeripheralDescription(
                name: "X", services: [LocalService("FFF0", [LocalCharacteristic("FFF1", [.read])])])
            let peripheral = try await bench.offer(description)
            let silent = await #expect(throws: BLEError.self) { try await peripheral.notify([1], on: "FFF1") }
            #expect(silent?.code == .invalidArgument)
            let unknown = await #expect(throws: BLEError.self) { try await peripheral.notify([1], on: "FFF9") }
            #expect(unknown?.code == .invalidArgument)
            await peripheral.close()
        }
    }
}
