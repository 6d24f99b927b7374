import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import Foundation
import LineProtocol
import TestSupport
import Testing

@testable import Transports

@Suite("Characteristics of any BLE device", .timeLimit(.minutes(5)))
struct GATTRequestTests {
    /// A fake bluetoothd with a device of no family, one of whose UUIDs occurs twice.
    private struct Rig {
        let bus: PrivateBus
        let fake: FakeBlueZ
        let radio: RadioDevice
        let level: RadioCharacteristic
        let interval: RadioCharacteristic
        let writes = Watched<[String]>([])

        init() async throws {
            bus = try await PrivateBus()
            fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
            await fake.addAdapter()
            (radio, level, interval) = await Radio.run { [writes] in
                let level = RadioCharacteristic("2A19", [.read, .notify], value: [0x64])
                let interval = RadioCharacteristic("2A21", [.read, .write, .writeWithoutResponse], value: [0, 0])
                let quick = RadioCharacteristic("FFE1", [.writeWithoutResponse])
                for (name, characteristic) in [("2A21", interval), ("FFE1", quick)] {
                    characteristic.onWrite = { bytes, request in
                        writes.update { $0.append("\(name) \(bytes) \(request.wantsAnswer)") }
                    }
                }
                let radio = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "Thing", services: ["180F"]))
                radio.services = [
                    RadioService("180F", [level]),
                    RadioService("FFC0", [interval, RadioCharacteristic("2A19", [.read], value: [7]), quick]),
                ]
                return (radio, level, interval)
            }
            await fake.add(radio)
        }
    }

    private func withDevice(_ body: (BLEDevice, Rig) async throws -> Void) async throws {
        let rig = try await Rig()
        let device = try await BLEDevice.open(
            Endpoint("ble:C0:FF:EE:00:00:01"), on: .shared, bus: .address(rig.bus.address))
        let result: Result<Void, any Error>
        do { result = .success(try await body(device, rig)) } catch { result = .failure(error) }
        await device.close()
        await rig.fake.stop()
        try result.get()
    }

    private func characteristic(_ text: String, of device: BLEDevice) throws -> GATTCharacteristic {
        try device.characteristic(try #require(GATTReference(text)))
    }

    @Test func `A characteristic is found by UUID, by service and by handle`() async throws {
        try await withDevice { device, _ in
            let level = try characteristic("180F/2A19", of: device)
            #expect(level.service == "180F" && level.knownName == "Battery Level")
            #expect(try characteristic(level.handleName, of: device) == level)
            #expect(try characteristic("0x2A21", of: device).uuid == "2A21")
            let twice = #expect(throws: GATTReferenceError.self) { try characteristic("2A19", of: device) }
            #expect(twice?.fitting.map(\.service) == ["180F", "FFC0"])
            #expect(twice?.reference.text == "2A19")
            let none = #expect(throws: GATTReferenceError.self) { try characteristic("2A1A", of: device) }
            #expect(none?.fitting == [] && none?.all.count == 4)
        }
    }

    @Test func `A value without a type is refused with the word that is not hexadecimal`() {
        let error = #expect(throws: GATTSyntaxError.self) { try GATTRequest(["write", "FFE1", "0x01", "10"]) }
        #expect(error == .untyped("10"))
    }

    @Test func `Characteristics are read and written according to their flags`() async throws {
        try await withDevice { device, rig in
            #expect(try await device.read(characteristic("180F/2A19", of: device)) == [0x64])
            let interval = try characteristic("2A21", of: device)
            #expect(try await device.write([44, 1], to: interval))
            #expect(try await !device.write([45, 1], to: interval, isConfirmed: false))
            #expect(try await !device.write([1], to: characteristic("FFE1", of: device)))
            #expect(rig.writes.state == ["2A21 [44, 1] true", "2A21 [45, 1] false", "FFE1 [1] false"])
        }
    }

    @Test func `Values are encoded as JSON, with null for unknown parts`() async throws {
        try await withDevice { device, _ in
            let level = try characteristic("180F/2A19", of: device)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            func json(_ bytes: [UInt8], _ format: GATTFormat?) throws -> String {
                String(decoding: try encoder.encode(GATTReading(bytes, of: level, as: format)), as: UTF8.self)
            }
            let handle = try #require(level.handle)
            #expect(
                try json([0x64], GATTFormat(type: .u8))
                    == #"{"characteristic":"2A19","handle":\#(handle),"hex":"64","name":"Battery Level","service":"180F","#
                    + #""text":"d","type":"u8","value":100}"#)
            #expect(try json([0xFF], GATTFormat()).hasSuffix(#""text":null,"type":null,"value":null}"#))
            #expect(try json([0xFF], nil).hasSuffix(#""text":null}"#))
        }
    }

    @Test func `A value that cannot be written is refused before sending`() async throws {
        try await withDevice { device, rig in
            let (level, quick) = try (characteristic("180F/2A19", of: device), characteristic("FFE1", of: device))
            let interval = try characteristic("2A21", of: device)
            // An unconfirmed write has room for the MTU, here the smallest one of 23, minus 3 bytes; a confirmed one
            // for 512.
            let refusals: [(GATTCharacteristic, Bool?, Int, GATTRequestError.Cause)] = [
                (level, nil, 1, .notWritable(level, isConfirmed: nil)),
                (quick, true, 1, .notWritable(quick, isConfirmed: true)),
                (quick, nil, 21, .tooLong(byteCount: 21, limit: 20, fitsConfirmed: false)),
                (interval, false, 21, .tooLong(byteCount: 21, limit: 20, fitsConfirmed: true)),
                (interval, nil, 513, .tooLong(byteCount: 513, limit: 512, fitsConfirmed: false)),
            ]
            for (characteristic, isConfirmed, count, cause) in refusals {
                let error = await #expect(throws: GATTRequestError.self) {
                    try await device.write(
                        [UInt8](repeating: 0, count: count), to: characteristic, isConfirmed: isConfirmed)
                }
                #expect(error?.cause == cause)
                #expect(error?.outcome == .notSent)
            }
            let unreadable = await #expect(throws: GATTRequestError.self) { try await device.read(quick) }
            #expect(unreadable?.outcome == .notSent && unreadable?.activity == "reading FFE1")
            #expect(rig.writes.state == [])
        }
    }

    @Test func `A refused write changed nothing; a write cut off by a lost link has an unknown effect`() async throws {
        try await withDevice { device, rig in
            let interval = try characteristic("2A21", of: device)
            await Radio.run { rig.interval.onWrite = { _, _ in throw BlueZError.attribute(0x80) } }
            let refused = await #expect(throws: GATTRequestError.self) { try await device.write([1], to: interval) }
            #expect(refused?.cause == .refused(ATTErrorCode(rawValue: 0x80)))
            #expect(refused?.outcome == .nothingChanged)
            await Radio.run { rig.interval.onRead = { _ in try await untilCancelled() } }
            let silent = await #expect(throws: GATTRequestError.self) {
                try await device.read(interval, timeout: .milliseconds(1))
            }
            #expect(silent?.outcome == .nothingChanged)
            guard case .noAnswer(in: .milliseconds(1), hint: _) = silent?.cause else {
                Issue.record("\(String(describing: silent))")
                return
            }
            await Radio.run { rig.radio.manners.writesUntilLoss = 0 }
            let lost = await #expect(throws: GATTRequestError.self) { try await device.write([1], to: interval) }
            #expect(lost?.outcome == .unknown)
            guard case .link(let link) = lost?.cause else {
                Issue.record("\(String(describing: lost))")
                return
            }
            #expect(link.code == .disconnected)
        }
    }

    @Test func `Notifications arrive until the device is gone`() async throws {
        try await withDevice { device, rig in
            let level = try characteristic("180F/2A19", of: device)
            var values = try await device.notifications(of: [level]).makeAsyncIterator()
            await rig.level.notify([99])
            await rig.level.notify([98])
            #expect(try await values.next() == GATTNotification(characteristic: level, bytes: [99]))
            #expect(try await values.next()?.bytes == [98])
            await rig.radio.dropLinks()
            let error = await #expect(throws: LinkError.self) { try await values.next() }
            #expect(error?.code == .disconnected)
        }
    }
}
