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
    private let folder = TemporaryFolder()
    /// Of this world's devices, whose addresses others have as well.
    private let locks: DeviceLocks

    init() async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        calls = await fake.calls
        await fake.addAdapter()
        locks = DeviceLocks(folders: [folder.path]) { [clock] in clock.now.offset }
    }

    func stop() async {
        await fake.stop()
        bus.kill()
    }

    /// Goes through a script; nil where it does not come to its end.
    func run<Script: FaultScript, Device: SimulatedPeripheral>(
        _ script: Script.Type, _ device: Device, _ settings: SimulatorSettings, seed: UInt64, mtu: Int,
        truth: @escaping @Sendable (Device) -> Script.Truth
    ) async throws -> [Outcome]? {
        let progress = Progress()
        let address = Self.address(of: seed)
        let faulty = await FaultyRadio(
            device, faults: settings.faults(), seed: seed, address: address, mtu: mtu, tape: progress.tape, clock: clock
        )
        await fake.add(faulty.radio)
        let endpoint = try Endpoint("ble:\(address)?family=\(Script.family)")
        let use = BLEUse(profiles: .families, closesAtOnce: true)
        let bench = FaultBench<Script.Truth>(
            clock: clock, executor: loop, tape: progress.tape, seed: seed, isRadio: true, endpoint: endpoint,
            open: { [loop, bus, clock, locks] in
                try await BLEEndpoint.open(
                    endpoint, on: loop, bus: .address(bus.address), clock: clock, as: use, locks: locks)
            }, truth: { await Radio.run { faulty.look(truth) } })
        let outcomes = await drive(faulty, progress) { await script.run(bench) }
        await fake.remove(faulty.radio)
        return outcomes
    }

    /// A device's own, by its seed of 32 bits.
    private static func address(of seed: UInt64) -> String {
        let bytes = [24, 16, 8, 0].map { String(0x100 + (seed >> $0 & 0xFF), radix: 16, uppercase: true).dropFirst() }
        return (["C0", "FF"] + bytes).joined(separator: ":")
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
    }

    /// Waits until nothing goes on any more that time has no part in: on the loop and on the bus.
    @Radio
    private func settled(_ script: Progress) async -> State {
        while true {
            await idle()
            let (state, rest) = (state(script), bus.restCount)
            // What the bus has passed on by now is attended to, and nothing comes of it.
            await idle()
            let isQuiet = rest != nil && bus.restCount == rest && self.state(script) == state
            if isQuiet || script.outcomes != nil { return state }
        }
    }

    /// Waits until all that can run on the loop has run, and what its descriptors bring, several times: it looks at its timers
    /// and descriptors when it has nothing else to do.
    private func idle() async { for _ in 0..<4 { try? await EventLoopClock(loop).sleep(for: .zero) } }

    private struct State: Equatable {
        var tape: Int
        var deadlines: [Duration]
        var calls: Int
    }

    private func state(_ script: Progress) -> State {
        State(tape: script.tape.end, deadlines: clock.deadlines, calls: calls.state.count)
    }
}
