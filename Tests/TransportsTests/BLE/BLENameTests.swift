import BlueZ
import DeviceTestKit
import FakeBlueZ
import LineProtocol
import Synchronization
import TestSupport
import Testing

@testable import Transports

@Suite("Device selection of ble: endpoints", .timeLimit(.minutes(5)))
struct BLENameTests {
    /// A memory of names and addresses, such as a program keeps.
    private final class Memory: BLENameMemory {
        private let addresses = Mutex<[String: BluetoothAddress]>([:])

        func address(of name: String) -> BluetoothAddress? { addresses.withLock { $0[name] } }

        func remember(_ address: BluetoothAddress, as name: String) { addresses.withLock { $0[name] = address } }

        var all: [String: String] { addresses.withLock { $0.mapValues(\.description) } }
    }

    private static let first = "C0:FF:EE:00:00:01"
    private static let second = "C0:FF:EE:00:00:02"

    private func calls(_ rig: BLEOpeningRig, of member: String) async -> Int {
        await rig.fake.calls.state.count { $0.member == member }
    }

    @Test func `Several devices of one name are listed by signal strength, and none is connected`() async throws {
        let rig = try await BLEOpeningRig()
        _ = await rig.addPump(1, strength: -80)
        _ = await rig.addPump(2, strength: -50)
        try await rig.makeKnown(2)
        let error = await failure { try await rig.open("ble:HMSoft") }
        #expect(error?.code == .ambiguous)
        #expect(error?.detail == "\(Self.second) (-50 dBm), \(Self.first) (-80 dBm)")
        #expect(error?.hint == "name one by its address: ble:\(Self.second)")
        #expect(await calls(rig, of: "Connect") == 0)
        let link = try await rig.open("ble:\(Self.first)")
        #expect(link.deviceAddress == Self.first)
        await link.close()
    }

    @Test func `Letter case is ignored only if no device has the exact name`() async throws {
        let rig = try await BLEOpeningRig()
        _ = await rig.addPump(1, "HMSoft", strength: -80)
        _ = await rig.addPump(2, "hmsoft", strength: -50)
        try await rig.makeKnown(2)
        for (name, address) in [("HMSoft", Self.first), ("hmsoft", Self.second)] {
            let link = try await rig.open("ble:\(name)")
            #expect(link.deviceAddress == address)
            await link.close()
        }
        #expect(await failure { try await rig.open("ble:HMSOFT") }?.code == .ambiguous)
    }

    @Test func `A name's address is remembered once the link is open, and another address is refused`()
        async throws
    {
        let rig = try await BLEOpeningRig()
        let memory = Memory()
        let pump = await rig.addPump(1)
        let link = try await rig.open("ble:HMSoft", memory)
        #expect(memory.all == ["HMSoft": Self.first])
        #expect(link.isDeviceAddressStable)
        await link.close()
        await rig.fake.remove(pump)
        _ = await rig.addPump(2)
        let connections = await calls(rig, of: "Connect")
        let error = await failure { try await rig.open("ble:HMSoft", memory) }
        #expect(error?.code == .changedDevice)
        #expect(error?.detail == "ble:HMSoft resolved to \(Self.first) before, and resolves to \(Self.second) now")
        #expect(error?.hint?.contains("name the other by its address: ble:") == true)
        #expect(await calls(rig, of: "Connect") == connections)
        #expect(memory.all == ["HMSoft": Self.first])
    }

    @Test func `An address that was typed, or chosen by family, is not remembered`() async throws {
        let rig = try await BLEOpeningRig()
        let memory = Memory()
        _ = await rig.addPump(1)
        let link = try await rig.open("ble:\(Self.first)", memory)
        await link.close()
        let other = try await rig.open("ble:*?family=pump", memory, after: rig.clock.now.offset + BLESearch.window)
        await other.close()
        #expect(memory.all.isEmpty)
    }

    // The two highest bits of a random address show its kind: 11 for a static one.
    @Test(arguments: [("C0", true), ("FF", true), ("BF", false), ("7A", false), ("40", false), ("3F", false)])
    func `Only static random addresses are remembered`(byte: String, isStable: Bool) async throws {
        let rig = try await BLEOpeningRig()
        let memory = Memory()
        await Radio.run {
            let radio = RadioDevice(
                "\(byte):FF:EE:00:00:01", Advertisement(name: "HMSoft", services: ["FFE0"]), addressType: "random")
            radio.services = [
                RadioService("FFE0", [RadioCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])])
            ]
            rig.fake.add(radio)
        }
        let link = try await rig.open("ble:HMSoft", memory)
        #expect(link.isDeviceAddressStable == isStable)
        #expect(memory.all.isEmpty == !isStable)
        await link.close()
    }

    // MARK: The device's family

    @Test func `An LED board is rejected as a pump, whatever else it offers, and nothing is written to it`()
        async throws
    {
        let rig = try await BLEOpeningRig()
        let memory = Memory()
        let board = await rig.addPump(1, "Odd")
        await Radio.run {
            let led = RadioCharacteristic("957312E0-2354-11EB-9F10-FBC30A62CF38", [.read, .write, .notify])
            board.services.append(RadioService("937312E0-2354-11EB-9F10-FBC30A62CF38", [led]))
        }
        for text in ["ble:Odd?family=pump", "ble:Odd?profile=hm10", "ble:\(Self.first)?family=storm"] {
            let error = await failure { try await rig.open(text, memory) }
            #expect(error?.code == .wrongFamily)
            #expect(error?.detail == "an LED board (family led)")
            #expect(error?.remedy == .useAs(family: "led"))
            #expect(error?.hint == "use it as a device of the family led")
        }
        for member in ["WriteValue", "StartNotify", "ReadValue"] { #expect(await calls(rig, of: member) == 0) }
        #expect(memory.all.isEmpty)
        #expect(await board.links.isEmpty)
        // With its own family, or without a family, the endpoint opens.
        for text in ["ble:Odd?family=led", "ble:Odd"] { await (try await rig.open(text, memory)).close() }
    }
}
