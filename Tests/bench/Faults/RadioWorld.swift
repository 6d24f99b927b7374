import BlueZ
import DBus
import DescriptorIO
import DeviceKit
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import LineProtocol
import PeripheralSim
import Synchronization
import TestSupport

@testable import Transports

/// A fake bluetoothd on its own bus with a manual clock, for one device with faults at a time.
final class RadioWorld: Sendable {
    /// The time limit of a script, by the manual clock.
    private static let longest = Duration.seconds(900)

    private let clock = ManualClock()
    /// The host and the fake bluetoothd share a loop, so that each immediately sees the effects of the other.
    private let loop = Radio.loop
    private let bus: PrivateBus
    private let fake: FakeBlueZ
    /// The D-Bus method calls that the fake bluetoothd has received.
    private let calls: Watched<[FakeBlueZ.Call]>
    private let folder = TemporaryFolder()
    /// The locks that keep a second program from a device. Private, because devices of other worlds have the same
    /// addresses.
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

    /// Runs a script; returns nil if it does not end.
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

    /// The address of the device with this 32-bit seed. Each seed has another one.
    private static func address(of seed: UInt64) -> String {
        let bytes = [24, 16, 8, 0].map { String(0x100 + (seed >> $0 & 0xFF), radix: 16, uppercase: true).dropFirst() }
        return (["C0", "FF"] + bytes).joined(separator: ":")
    }

    // MARK: Time

    /// Calls `body`, and advances the clock from one due time to the next until `body` has ended.
    ///
    /// - Returns: The outcomes; nil if `body` did not end within ``longest``, or nothing is due any more.
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
            // Running the device may have caused new work, which must settle before time goes on.
            guard self.state(script) == state else { continue }
            clock.advance(by: max(.zero, next - clock.now.offset))
            faulty.attend()
        }
        task.cancel()
        return nil
    }

    /// The progress of a script. Isolated to the common loop.
    private final class Progress: @unchecked Sendable {
        // @unchecked: used on the loop's thread only.
        let tape = Tape()
        var outcomes: [Outcome]?
    }

    /// Waits until nothing is left to do on the loop and on the bus without an advance of the clock.
    @Radio
    private func settled(_ script: Progress) async -> State {
        while true {
            await idle()
            let (state, rest) = (state(script), bus.restCount)
            // If a second wait changes nothing, the last messages on the bus were handled and caused no further ones.
            await idle()
            let isQuiet = rest != nil && bus.restCount == rest && self.state(script) == state
            if isQuiet || script.outcomes != nil { return state }
        }
    }

    /// Waits four times, a number that is chosen and not measured, until all ready jobs and all descriptor events are
    /// handled: the loop polls its timers and descriptors when it has nothing else to do.
    private func idle() async { for _ in 0..<4 { try? await EventLoopClock(loop).sleep(for: .zero) } }

    /// A comparable summary of the progress: if two are equal, nothing has happened in between.
    private struct State: Equatable {
        /// The number of entries of the tape.
        var tape: Int
        var deadlines: [Duration]
        var calls: Int
    }

    private func state(_ script: Progress) -> State {
        State(tape: script.tape.end, deadlines: clock.deadlines, calls: calls.state.count)
    }
}
