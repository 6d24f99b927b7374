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
    /// Host and fake share a loop: what one has done by now, the other sees.
    private let loop = Radio.loop
    private let bus: PrivateBus
    private let fake: FakeBlueZ
    private let calls: Watched<[FakeBlueZ.Call]>
    private let probe: DBusConnection

    init() async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        calls = await fake.calls
        await fake.addAdapter()
        probe = try await DBusConnection.open(.address(bus.address), on: loop)
    }

    func stop() async {
        await probe.close()
        await fake.stop()
        bus.kill()
    }

    /// Goes through a script; nil where it does not come to its end.
    func run<Script: FaultScript, Device: SimulatedPeripheral>(
        _ script: Script.Type, _ device: Device, _ settings: SimulatorSettings, seed: UInt64, mtu: Int,
        truth: @escaping @Sendable (Device) -> Script.Truth
    ) async throws -> [Outcome]? {
        let progress = Progress()
        let address = "C0:FF:EE:00:00:\(seed < 16 ? "0" : "")\(String(seed, radix: 16, uppercase: true))"
        let faulty = await FaultyRadio(
            device, faults: settings.faults(), seed: seed, address: address, mtu: mtu, tape: progress.tape, clock: clock
        )
        await fake.add(faulty.radio)
        let endpoint = try Endpoint("ble:\(address)?family=\(Script.family)")
        let use = BLEUse(profiles: .families, closesAtOnce: true)
        let bench = FaultBench<Script.Truth>(
            clock: clock, executor: loop, tape: progress.tape, seed: seed, isRadio: true, endpoint: endpoint,
            open: { [loop, bus, clock] in
                progress.openings += 1
                defer { progress.openings -= 1 }
                return try await BLEEndpoint.open(
                    endpoint, on: loop, bus: .address(bus.address), clock: clock, as: use)
            }, truth: { await Radio.run { faulty.look(truth) } })
        let outcomes = await drive(faulty, progress) { await script.run(bench) }
        await fake.remove(faulty.radio)
        return outcomes
    }

    // MARK: Time

    /// Has time go by, from one thing that is due to the next, until `body` has come to its end.
    @Radio
    private func drive<Device: SimulatedPeripheral>(
        _ faulty: FaultyRadio<Device>, _ script: Progress, _ body: @escaping @Sendable () async -> [Outcome]
    ) async -> [Outcome]? {
        let task = Task(executorPreference: loop) { script.outcomes = await body() }
        let end = clock.now.offset + Self.longest
        while clock.now.offset < end {
            let state = await settled(script)
            if let outcomes = script.outcomes { return outcomes }
            let deadline = clock.deadlines.first
            guard let next = faulty.nextMoment(by: deadline) ?? deadline else { break }
            // What has begun since has its own time.
            guard self.state(script) == state else { continue }
            clock.advance(by: max(.zero, next - clock.now.offset))
            faulty.attend()
        }
        task.cancel()
        return nil
    }

    /// How far a script is. Of the loop that all of it runs on.
    private final class Progress: @unchecked Sendable {
        // @unchecked: touched on the loop's thread only.
        let tape = Tape()
        var outcomes: [Outcome]?
        /// How many links are being opened, which waits for files and threads as well.
        var openings = 0
    }

    /// Waits until nothing goes on any more that time has no part in: on the loop, on the bus, and in what they share.
    @Radio
    private func settled(_ script: Progress) async -> State {
        var last = state(script)
        var quietRounds = 0
        while quietRounds < (script.openings > 0 ? Self.patience : 2), script.outcomes == nil {
            await settle(loop, rounds: 1)
            await ping()
            await settle(loop, rounds: 1)
            let state = state(script)
            quietRounds = state == last ? quietRounds + 1 : 0
            last = state
        }
        return last
    }

    /// For how many rounds nothing goes on while a link is opened that time has no part in.
    private static let patience = 100

    private struct State: Equatable {
        var tape: Int
        var deadlines: [Duration]
        var calls: Int
        var openings: Int
    }

    private func state(_ script: Progress) -> State {
        State(
            tape: script.tape.end, deadlines: clock.deadlines, calls: calls.state.count, openings: script.openings)
    }

    /// Asks bluetoothd something: what others have asked it before is answered then.
    private func ping() async {
        _ = try? await probe.call(DBusCall(to: "org.bluez", "/org/bluez", "org.freedesktop.DBus.Peer", "Ping"))
    }
}
