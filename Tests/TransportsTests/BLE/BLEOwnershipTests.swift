import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import Transports

/// While another program holds a device for a single command, an opening tries again every 50 ms. After a link was
/// closed, an opening waits up to 5 s until bluetoothd has disconnected the device.
@Suite("Exclusive use of BLE devices", .timeLimit(.minutes(5)))
struct BLEOwnershipTests {
    private static let address = "00:15:83:00:00:10"

    /// A fake bluetoothd with a module, and programs that share a folder of locks and a clock.
    private struct Rig {
        let bus: PrivateBus
        let fake: FakeBlueZ
        /// bluetoothd's clock.
        let radioClock = ManualClock()
        /// The programs' clock.
        let clock = ManualClock()
        let module: RadioDevice
        let folder = TemporaryFolder()

        init() async throws {
            bus = try await PrivateBus()
            fake = try await FakeBlueZ.start(on: bus.address, clock: radioClock)
            await fake.addAdapter()
            module = await Radio.run {
                let module = RadioDevice(address, Advertisement(name: "HMSoft", services: ["FFE0"]))
                module.services = [
                    RadioService("FFE0", [RadioCharacteristic("FFE1", [.writeWithoutResponse, .notify])])
                ]
                return module
            }
            await fake.add(module)
        }

        var locks: DeviceLocks {
            DeviceLocks(folders: [folder.path("locks")], uptime: { [clock] in .seconds(1000) + clock.now.offset })
        }

        func open(
            _ use: BLEUse = BLEUse(), _ query: String = "", locks: DeviceLocks? = nil
        ) async throws -> any Link {
            try await BLEEndpoint.open(
                Endpoint("ble:\(address)\(query)"), on: .shared, bus: .address(bus.address), clock: clock, as: use,
                locks: locks ?? self.locks)
        }

        func failure(_ use: BLEUse = BLEUse()) async -> LinkError? {
            do { try await open(use).close() } catch { return error as? LinkError }
            return nil
        }

        func calls(of member: String) async -> Int { await fake.calls.state.count { $0.member == member } }

        func setDisconnectDelay() async { await Radio.run { module.manners.disconnectDelay = .seconds(2) } }
    }

    @Test func `A second link to a device is refused with the holder, and the first is undisturbed`() async throws {
        let rig = try await Rig()
        let link = try await rig.open()
        let error = await rig.failure()
        #expect(error?.code == .busy)
        #expect(error?.holder?.processID == getpid())
        #expect("\(error.map { "\($0)" } ?? "")".contains("(pid \(getpid()))"))
        #expect(error?.hint == "close it in this program first")
        #expect(error?.deviceID != nil && error?.deviceID == (link as? BLELink)?.deviceID)
        #expect(error?.deviceID?.hasSuffix("-00:00:5E:00:53:01-\(Self.address)") == true)
        #expect(await rig.calls(of: "Connect") == 1)
        #expect(await rig.calls(of: "Disconnect") == 0)
        // The refused opening did not wait, as it would have for a brief user.
        #expect(!rig.clock.deadlines.contains(.milliseconds(50)))
        await link.close()
        try await rig.open().close()
    }

    @Test func `A link whose device is gone does not block the next, even if it was not closed`() async throws {
        let rig = try await Rig()
        let link = try await rig.open()
        await rig.module.dropLinks()
        await #expect(throws: LinkError.self) { try await link.receive() }
        let next = try await rig.open()
        await link.close()
        #expect(await rig.module.links.count == 1)
        await next.close()
    }

    @Test func `A failed opening leaves the device free`() async throws {
        let rig = try await Rig()
        await Radio.run {
            rig.module.manners.connectErrors = Array(repeating: BlueZError.notSupported, count: 1)
        }
        #expect(await rig.failure()?.code == .unsupported)
        await Radio.run { rig.module.services = [RadioService("1809", [RadioCharacteristic("2A1C", [.indicate])])] }
        #expect(await rig.failure()?.code == .unfit)
        await Radio.run {
            rig.module.services = [RadioService("FFE0", [RadioCharacteristic("FFE1", [.write, .notify])])]
        }
        try await rig.open().close()
    }

    @Test func `Opening waits for a brief user of the device, and not without patience`() async throws {
        let rig = try await Rig()
        let brief = try await rig.open(BLEUse(isBrief: true))
        let second = Task { try await rig.open() }
        await rig.clock.untilSomebodySleeps(until: .milliseconds(50))
        #expect(await rig.calls(of: "Connect") == 1)
        await brief.close()
        rig.clock.advance(by: .milliseconds(50))
        let link = try await second.value
        #expect(await rig.calls(of: "Connect") == 2)
        await link.close()

        let held = try await rig.open(BLEUse(isBrief: true))
        let error = await rig.failure(BLEUse(patience: .zero))
        #expect(error?.code == .busy && error?.holder?.processID == getpid())
        await held.close()
    }

    @Test func `Waiting for a brief user can be cancelled`() async throws {
        let rig = try await Rig()
        let brief = try await rig.open(BLEUse(isBrief: true))
        let second = Task { try await rig.open() }
        await rig.clock.untilSomebodySleeps(until: .milliseconds(50))
        second.cancel()
        let error = await #expect(throws: LinkError.self) { try await second.value }
        #expect(error?.code == .cancelled)
        await brief.close()
    }

    @Test func `Closing waits until the device is disconnected, and then the next link opens at once`() async throws {
        let rig = try await Rig()
        await rig.setDisconnectDelay()
        let link = try await rig.open()
        let closing = Task { await link.close() }
        await rig.radioClock.untilSomebodySleeps(until: .seconds(2))
        #expect(await rig.failure()?.code == .busy)
        rig.radioClock.advance(by: .seconds(2))
        await closing.value
        #expect(await rig.module.links.isEmpty)
        let next = try await rig.open()
        #expect(await rig.calls(of: "Connect") == 2)
        rig.radioClock.advance(by: .seconds(2))
        let last = Task { await next.close() }
        await rig.radioClock.untilSomebodySleeps(until: .seconds(6))
        rig.radioClock.advance(by: .seconds(2))
        await last.value
    }

    @Test func `After closing at once the next link waits for the disconnection, and connects again`() async throws {
        let rig = try await Rig()
        await rig.setDisconnectDelay()
        let use = BLEUse(closesAtOnce: true)
        await (try await rig.open(use)).close()
        await rig.radioClock.untilSomebodySleeps(until: .seconds(2))
        #expect(await rig.module.links.count == 1)
        let second = Task { try await rig.open(use) }
        await rig.clock.untilSomebodySleeps(until: .seconds(5))
        #expect(await rig.calls(of: "Connect") == 1)
        rig.radioClock.advance(by: .seconds(2))
        let link = try await second.value
        #expect(await rig.calls(of: "Connect") == 2)
        try await link.send("ON\n")
        await link.close()
    }

    @Test func `A link opens after 5 s if the device stays connected`() async throws {
        let rig = try await Rig()
        await rig.setDisconnectDelay()
        let use = BLEUse(closesAtOnce: true)
        await (try await rig.open(use)).close()
        let second = Task { try await rig.open(use) }
        await rig.clock.untilSomebodySleeps(until: .seconds(5))
        rig.clock.advance(by: .seconds(5))
        await (try await second.value).close()
        // Another 5 s later, an opening does not wait for the disconnection.
        rig.clock.advance(by: .seconds(5))
        await (try await rig.open(use)).close()
    }

    @Test func `A program that gives up waiting for the disconnection leaves the next one waiting too`() async throws {
        let rig = try await Rig()
        await rig.setDisconnectDelay()
        let use = BLEUse(closesAtOnce: true)
        await (try await rig.open(use)).close()
        let second = Task { try await rig.open(use) }
        await rig.clock.untilSomebodySleeps(until: .seconds(5))
        second.cancel()
        await #expect(throws: LinkError.self) { try await second.value }
        let third = Task { try await rig.open(use) }
        await rig.clock.untilSomebodySleeps(until: .seconds(5))
        rig.radioClock.advance(by: .seconds(2))
        await (try await third.value).close()
        #expect(await rig.calls(of: "Connect") == 2)
    }

    @Test func `A device to which another program listens is refused, unless opened as shared`() async throws {
        let rig = try await Rig()
        let other = try await TestCentral(on: rig.bus.address, for: Self.address)
        _ = try await other.find()
        try await other.connect()
        try await other.subscribe("FFE1")
        let error = await rig.failure()
        #expect(error?.code == .busy && error?.detail == "another program is subscribed to FFE1")
        #expect(error?.hint?.contains("bluetoothctl disconnect \(Self.address)") == true)
        #expect(error?.deviceID != nil && error?.holder == nil)
        #expect(await rig.calls(of: "Disconnect") == 0)

        let link = try await rig.open(BLEUse(), "?shared")
        #expect(link.openingNote == "another program is subscribed to the device: values may arrive twice")
        await rig.module.characteristic("FFE1")?.notify(Array("OK".utf8))
        var heard: [UInt8] = []
        while heard.count < 4, let bytes = try await link.receive() { heard += bytes }
        #expect(heard == Array("OKOK".utf8))
        await link.close()
        #expect(await rig.calls(of: "Disconnect") == 0)
        #expect(await rig.module.links.count == 1)
        // Closing does not wait for StopNotify. The other central's subscription must outlast it.
        _ = try await rig.fake.calls.wait(for: "StopNotify") { calls in
            calls.contains { $0.member == "StopNotify" } ? true : nil
        }
        await rig.module.characteristic("FFE1")?.notify(Array("end".utf8))
        #expect(try await other.hears("end", of: "FFE1") == "OKOKend")
        await other.close()
    }

    @Test func `Subscriptions of a closed or lost link do not block the next link`() async throws {
        let rig = try await Rig()
        for _ in 0..<3 {
            let link = try await rig.open()
            #expect(link.openingNote == nil)
            await link.close()
        }
        let lost = try await rig.open()
        await rig.module.dropLinks()
        await #expect(throws: LinkError.self) { try await lost.receive() }
        await (try await rig.open()).close()
    }

    @Test func `Without a lock folder a link opens with a note`() async throws {
        let rig = try await Rig()
        let link = try await rig.open(locks: DeviceLocks(folders: ["/proc/nowhere/folder"]))
        #expect(link.openingNote?.contains("another program may use the device at the same time") == true)
        await link.close()
    }
}
