import BlueZ
import DBus
import DeviceTestKit
import FakeBlueZ
import TestSupport
import Testing

@Suite("Connecting over BLE", .timeLimit(.minutes(5)))
struct ConnectingTests {
    /// Connects to the module. Meanwhile the clock advances to each of the deadlines, in milliseconds from the start,
    /// as soon as the client sleeps until it.
    private func connect(_ bench: Bench, sleeping deadlines: [Int]) async throws -> Result<ConnectedDevice, BLEError> {
        let connecting = Task { () -> Result<ConnectedDevice, BLEError> in
            do throws(BLEError) {
                return .success(try await bench.bluez.device(module).connect())
            } catch {
                return .failure(error)
            }
        }
        for deadline in deadlines {
            let deadline = Duration.milliseconds(deadline)
            await bench.clock.untilSomebodySleeps(until: deadline)
            // Lets the replies to the client's other calls arrive. Until then the D-Bus connection may sleep until the
            // time-out of such a call, and not until the next of these deadlines.
            try await bench.settle()
            bench.clock.advance(by: deadline - bench.clock.now.offset)
        }
        return await connecting.value
    }

    @Test func `Connecting waits until the services are resolved`() async throws {
        try await withBench { bench in
            let radio = await bench.addModule(manners: LinkManners { $0.resolveDelay = .seconds(3) })
            let connecting = Task { try await bench.bluez.device(module).connect() }
            await bench.clock.untilSomebodySleeps(until: .seconds(3))
            #expect(await radio.links.count == 1)
            try await bench.settle()
            #expect(try await bench.bluez.device(module).report?.isConnected == true)
            bench.clock.advance(by: .seconds(3))
            let device = try await connecting.value
            #expect(device.name == "HMSoft")
            #expect(device.services.map(\.uuid) == ["FFE0"])
            #expect(
                try device.characteristic("FFE1", of: "FFE0").flags == [.read, .writeWithoutResponse, .notify])
            let error = try await failure { () throws(BLEError) in try device.characteristic("FFE2", of: "FFE0") }
            #expect(error?.code == .notFound && error?.hint == "choose a characteristic that it has: FFE1")
            await device.disconnect()
            await device.disconnect()
            try await bench.untilConnected(false)
            #expect(await radio.links.isEmpty)
        }
    }

    @Test(arguments: [["FFE0"], []])
    func `Connecting waits for services exported after ServicesResolved: bluez#1489`(
        advertised: [String]
    ) async throws {
        try await withBench { bench in
            let radio = await bench.addModule(manners: LinkManners { $0.exportDelay = .milliseconds(50) })
            await advertise(advertised, of: radio)
            let connecting = Task { try await bench.bluez.device(module).connect() }
            await bench.clock.untilSomebodySleeps(until: .milliseconds(50))
            await bench.clock.untilSomebodySleeps(until: .seconds(1))
            bench.clock.advance(by: .milliseconds(50))
            let device = try await connecting.value
            #expect(device.services.map(\.uuid) == ["FFE0"])
            #expect(try device.characteristic("FFE1", of: "FFE0").flags.contains(.notify))
            #expect(await bench.calls(of: "Connect") == 1)
        }
    }

    @Test func `If no service is required, connecting waits only 1 s for missing services`() async throws {
        try await withBench { bench in
            _ = await bench.addModule(manners: LinkManners { $0.exportDelay = .seconds(3600) })
            let device = try await connect(bench, sleeping: [1000]).get()
            #expect(device.services.isEmpty)
            #expect(await bench.calls(of: "Connect") == 1)
        }
    }

    @Test func `If a required service is missing after 5 s, the client connects again`() async throws {
        try await withBench { bench in
            let radio = await bench.addModule(manners: LinkManners { $0.exportDelay = .seconds(3600) })
            let connecting = Task { try await bench.bluez.device(module).connect(needing: ["FFE0"]) }
            await bench.clock.untilSomebodySleeps(until: .seconds(5))
            try await bench.settle()
            await setManners(of: radio, LinkManners())
            bench.clock.advance(by: .seconds(5))
            await bench.clock.untilSomebodySleeps(until: .milliseconds(5250))
            bench.clock.advance(by: .milliseconds(250))
            let device = try await connecting.value
            #expect(device.services.map(\.uuid) == ["FFE0"])
            #expect(await bench.calls(of: "Connect") == 2)
        }
    }

    @Test func `A device that hangs up before its services are exported is retried`() async throws {
        try await withBench { bench in
            let radio = await bench.addModule(manners: LinkManners { $0.exportDelay = .seconds(3600) })
            let connecting = Task { try await bench.bluez.device(module).connect(needing: ["FFE0"]) }
            await bench.clock.untilSomebodySleeps(until: .seconds(5))
            await setManners(of: radio, LinkManners())
            await radio.dropLinks()
            await bench.clock.untilSomebodySleeps(until: .milliseconds(250))
            bench.clock.advance(by: .milliseconds(250))
            let device = try await connecting.value
            #expect(device.services.map(\.uuid) == ["FFE0"])
        }
    }

    @Test func `Connecting waits for Connected if bluetoothd answers the call before it`() async throws {
        try await withBench { bench in
            _ = await bench.addModule(manners: LinkManners { $0.answersBeforeConnected = true })
            let device = try await bench.bluez.device(module).connect()
            #expect(device.services.map(\.uuid) == ["FFE0"])
            #expect(await bench.calls(of: "Connect") == 1)
        }
    }

    @Test(arguments: [BlueZError.abortedByLocal, BlueZError.connectionCanceled])
    func `Connecting is retried up to nine times after an aborted attempt`(passing: DBusError) async throws {
        try await withBench { bench in
            let manners = LinkManners { $0.connectErrors = Array(repeating: passing, count: 9) }
            _ = await bench.addModule(manners: manners)
            let device = try await connect(bench, sleeping: (1...9).map { $0 * 250 }).get()
            #expect(device.address == module)
            #expect(await bench.calls(of: "Connect") == 10)
        }
    }

    @Test func `Connecting gives up after five failures within 4 s and reports the reason`() async throws {
        try await withBench { bench in
            let refusal = BlueZError.failed("Input/output error")
            let manners = LinkManners { $0.connectErrors = Array(repeating: refusal, count: 9) }
            _ = await bench.addModule(manners: manners)
            // The first pause is 250 ms, and each later one twice the one before.
            let error = try await connect(bench, sleeping: [250, 750, 1750, 3750]).error
            #expect(error?.code == .failed && error?.message == "Input/output error")
            #expect(await bench.calls(of: "Connect") == 5)
        }
    }

    @Test func `A device that a crashed program left connected is used without connecting: bluez#89`() async throws {
        try await withBench { bench in
            _ = await bench.addModule(manners: LinkManners { $0.isConnectedAlready = true })
            try await bench.untilConnected()
            let device = try await bench.bluez.device(module).connect()
            #expect(device.services.count == 1)
            #expect(await bench.calls(of: "Connect") == 0)
        }
    }

    @Test func `A device unknown to bluetoothd is scanned for before connecting`() async throws {
        try await withBench { bench in
            _ = await bench.addModule()
            #expect(try await bench.bluez.device(module).report == nil)
            let device = try await bench.bluez.device(module).connect()
            // The client stops its scan before it connects.
            let members = await bench.fake.calls.state.map(\.member).filter { $0 != "GetManagedObjects" }
            #expect(members == ["SetDiscoveryFilter", "StartDiscovery", "StopDiscovery", "Connect"])
            await device.disconnect()
        }
    }

    @Test func `A device that bluetoothd dropped before connecting is scanned for again`() async throws {
        try await withBench { bench in
            let manners = LinkManners {
                $0.connectErrors = [DBusError(answering: "org.freedesktop.DBus.Error.UnknownObject", "gone")]
            }
            _ = await bench.addModule(manners: manners)
            _ = try await connect(bench, sleeping: [250]).get()
            #expect(await bench.calls(of: "StartDiscovery") == 2)
        }
    }

    @Test func `A device out of range is reported as not found after 10 s`() async throws {
        try await withBench { bench in
            let connecting = Task {
                try await failure { () throws(BLEError) in try await bench.bluez.device(module).connect() }
            }
            await bench.clock.untilSomebodySleeps(until: .seconds(10))
            bench.clock.advance(by: .seconds(10))
            let error = try await connecting.value
            #expect(error?.code == .notFound)
            #expect(error?.hint != nil)
            try await bench.untilCalled("StopDiscovery")
        }
    }

    @Test func `An attempt to connect is abandoned after 20 s, and all attempts after 60 s`() async throws {
        try await withBench { bench in
            _ = await bench.addModule(manners: LinkManners { $0.connectDelay = .seconds(300) })
            // Three attempts, with pauses of 250 and 500 ms. The limit of 60 s ends the third.
            let error = try await connect(bench, sleeping: [20_000, 20_250, 40_250, 40_750, 60_000]).error
            #expect(error?.code == .timedOut)
            try await bench.untilCalled("Connect", times: 3)
            try await bench.untilCalled("Disconnect", times: 3)
        }
    }

    @Test func `Cancelling the task abandons the connection attempt`() async throws {
        try await withBench { bench in
            _ = await bench.addModule(manners: LinkManners { $0.connectDelay = .seconds(300) })
            let connecting = Task {
                try await failure { () throws(BLEError) in try await bench.bluez.device(module).connect() }
            }
            try await bench.untilCalled("Connect")
            connecting.cancel()
            #expect(try await connecting.value?.code == .cancelled)
            try await bench.untilCalled("Disconnect")
        }
    }

    @Test func `A device that hangs up before its services are resolved is retried`() async throws {
        try await withBench { bench in
            let radio = await bench.addModule(manners: LinkManners { $0.resolveDelay = .seconds(3) })
            let connecting = Task { try await bench.bluez.device(module).connect() }
            await bench.clock.untilSomebodySleeps(until: .seconds(3))
            await radio.dropLinks()
            await bench.clock.untilSomebodySleeps(until: .milliseconds(250))
            await setManners(of: radio, LinkManners())
            bench.clock.advance(by: .milliseconds(250))
            _ = try await connecting.value
            #expect(await bench.calls(of: "Connect") == 2)
        }
    }

    @Test func `An adapter is tracked by its address when its number changes`() async throws {
        try await withBench { bench in
            let device = try await bench.bluez.device(module, on: "hci0")
            await bench.fake.renumber(bench.adapter, to: "hci2")
            try await bench.settle()
            _ = await bench.addModule()
            _ = try await device.connect()
            #expect(await bench.bluez.adapters.map(\.name) == ["hci2"])
        }
    }

    @Test func `Connecting is refused at once if the adapter is off`() async throws {
        try await withBench { bench in
            let device = try await bench.bluez.device(module)
            await block(bench.adapter)
            try await bench.settle()
            let error = try await failure { () throws(BLEError) in try await device.connect() }
            #expect(error?.code == .adapterOff)
        }
    }
}

@Radio private func advertise(_ services: [String], of radio: RadioDevice) { radio.advertisement.services = services }
@Radio private func setManners(of radio: RadioDevice, _ manners: LinkManners) { radio.manners = manners }
@Radio private func block(_ adapter: FakeAdapter) { adapter.isBlocked = true }

extension Result where Failure == BLEError {
    var error: BLEError? { if case .failure(let error) = self { error } else { nil } }
}
