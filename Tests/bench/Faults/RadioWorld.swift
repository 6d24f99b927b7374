import BlueZ
import DBus
import DescriptorIO
import DeviceKit
import FakeBlueZ
import FirmwareSim
import LineProtocol
import PeripheralSim
import Synchronization
import TestSupport

@testable import Transports

/// A fake bluetoothd on a bus of its own, for one device with faults after the other, by a manual clock.
final class RadioWorld: Sendable {
    /// How long a script may take.
    private static let longest = Duration.seconds(900)

    private let clock = ManualClock()
    private let loop: EventLoop
    private let bus: PrivateBus
    private let fake: FakeBlueZ
    private let probe: DBusConnection

    init() async throws {
        loop = EventLoop()
        loop.start()
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        await fake.addAdapter()
        probe = try await DBusConnection.open(.address(bus.address), on: loop)
    }

    func stop() async {
        await probe.close()
        await fake.stop()
        loop.stop()
        bus.kill()
    }

    /// Goes through a script; nil where it does not come to its end.
    func run<Script: FaultScript, Device: SimulatedPeripheral>(
        _ script: Script.Type, _ device: Device, _ settings: SimulatorSettings, seed: UInt64, mtu: Int,
        truth: @escaping @Sendable (Device) -> Script.Truth
    ) async throws -> [Outcome]? {
        let tape = Tape()
        let address = "C0:FF:EE:00:00:\(seed < 16 ? "0" : "")\(String(seed, radix: 16, uppercase: true))"
        let faulty = await FaultyRadio(
            device, faults: settings.faults(), seed: seed, address: address, mtu: mtu, tape: tape, clock: clock)
        await fake.add(faulty.radio)
        let endpoint = try Endpoint("ble:\(address)?family=\(Script.family)")
        let use = BLEUse(profiles: .families, closesAtOnce: true)
        let bench = FaultBench<Script.Truth>(
            clock: clock, executor: loop, tape: tape, seed: seed, isRadio: true, endpoint: endpoint,
            open: { [loop, bus, clock] in
                try await BLEEndpoint.open(endpoint, on: loop, bus: .address(bus.address), clock: clock, as: use)
            }, truth: { await Radio.run { faulty.look(truth) } })
        let outcomes = await drive(faulty, tape) { await script.run(bench) }
        await fake.remove(faulty.radio)
        return outcomes
    }

    // MARK: Time

    /// Has time go by, from one thing that is due to the next, until `body` has come to its end.
    private func drive<Device: SimulatedPeripheral>(
        _ faulty: FaultyRadio<Device>, _ tape: Tape, _ body: @escaping @Sendable () async -> [Outcome]
    ) async -> [Outcome]? {
        let box = Box()
        let task = Task(executorPreference: loop) { box.set(await body()) }
        let end = clock.now.offset + Self.longest
        while clock.now.offset < end {
            await settle(tape, box)
            if let outcomes = box.value { return outcomes }
            let deadline = clock.deadlines.first
            let moment = await faulty.nextMoment(by: deadline)
            guard let next = moment ?? deadline else { break }
            clock.advance(by: max(.zero, next - clock.now.offset))
            await faulty.attend()
        }
        task.cancel()
        return nil
    }

    private final class Box: Sendable {
        private let result = Mutex<[Outcome]?>(nil)
        func set(_ outcomes: [Outcome]) { result.withLock { $0 = outcomes } }
        var value: [Outcome]? { result.withLock { $0 } }
    }

    /// Waits until nothing goes on any more that time has no part in: on either loop, on the bus, and in what they share.
    private func settle(_ tape: Tape, _ box: Box) async {
        var last = state(tape)
        var quietRounds = 0
        while quietRounds < 2, box.value == nil {
            await TestSupport.settle(loop, rounds: 1)
            await TestSupport.settle(Radio.loop, rounds: 1)
            await ping()
            await TestSupport.settle(Radio.loop, rounds: 1)
            await TestSupport.settle(loop, rounds: 1)
            let state = state(tape)
            quietRounds = state == last ? quietRounds + 1 : 0
            last = state
        }
    }

    private struct State: Equatable {
        var tape: Int
        var deadlines: [Duration]
        var calls: Int
    }

    private func state(_ tape: Tape) -> State {
        State(tape: tape.end, deadlines: clock.deadlines, calls: fake.calls.state.count)
    }

    /// Asks bluetoothd something: what others have asked it before is answered then.
    private func ping() async {
        _ = try? await probe.call(
            DBusCall(to: "org.bluez", "/org/bluez", "org.freedesktop.DBus.Peer", "Ping"))
    }
}
