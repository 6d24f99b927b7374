import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

/// A sleeping pump buffers 63 bytes, and silently loses further ones. Even for a hasty program pumpctl must not send
/// more at once. The simulator counts its lost bytes. Some runs are then played to our firmware on the emulated chip.
///
/// `SEEDS=1234 swift test --filter HasteTests` plays one program and prints its course.
@Suite("Bench: pumpctl's commands do not overflow the pump's input buffer")
struct HasteTests {
    private static let seeds = Seeds(100, soak: 1_000)
    /// One run in this many is played to our firmware.
    private static let playedEach = 20

    @Test("Cancelled and hasty commands lose no byte at the simulator or the firmware")
    func commands() async throws {
        let runs = try await onThread {
            Self.seeds.map { seed -> (seed: UInt64, HasteRun.Outcome) in (seed, HasteRun.play(seed: seed)) }
        }
        for (seed, run) in runs {
            if Self.seeds.isSingle { print(run.transcript.text) }
            if !run.hasEnded { Issue.record("seed \(seed) does not end") }
            #expect(run.lost == 0, "seed \(seed) loses \(run.lost) bytes")
        }
        // A run with few writes can't fill the buffer, so most runs must have more.
        #expect(runs.count { $0.1.writes.count >= 8 } > runs.count / 2)

        if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
        await FirmwareSlots.shared.take()
        try await withCleanup({ await FirmwareSlots.shared.giveBack() }) {
            for isField in [false, true] {
                let player = try await StreamPlayer(thermistors: 2, isField: isField)
                for (seed, run) in runs.enumerated().filter({ $0.offset % Self.playedEach == 0 }).map(\.element) {
                    let played = try await player.play(PumpStream(writes: run.writes))
                    let build = isField ? "field" : "default"
                    #expect(played.lost == 0, "seed \(seed) loses \(played.lost) bytes on our firmware, \(build) build")
                }
                await player.stop()
            }
        }
    }
}

/// A hasty program, generated from a seed: it begins most commands without waiting for the previous reply, and cancels
/// half of them within 20 ms.
final class HasteRun: @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    struct Outcome: Sendable {
        /// Whether all commands have ended.
        var hasEnded: Bool
        /// The number of bytes for which the pump's buffer had no room.
        var lost: Int
        var writes: [(time: Duration, bytes: [UInt8])]
        var transcript: OffTranscript
    }

    private let world: OffWorld

    private init(_ world: OffWorld) { self.world = world }

    static func play(seed: UInt64) -> Outcome {
        let world = OffWorld(seed: seed, isShared: false) { faults in
            // No other senders and no faults of the carrier, because pumpctl does not control them.
            (faults.intrusions, faults.cutWrites, faults.cuts, faults.resets) = ([], 0, [], false)
            faults.options.lineRate = .baud(9600)
        }
        let run = HasteRun(world)
        // Begin at any moment of a turn of the pump's main loop, which takes up to 160 ms.
        world.loop.run(for: world.time(0, 160))
        world.beginFaults()
        // Far more than the slowest program takes: up to 44 commands, of which an OFF takes several seconds.
        let ending = world.loop.run(limit: .seconds(600)) { await run.play() }
        world.loop.run(for: .seconds(1))
        return Outcome(
            hasEnded: ending == .done, lost: world.pump.receiveOverflows, writes: world.writes,
            transcript: world.transcript)
    }

    private func play() async {
        let link = world.open(host: 0)
        guard let session = try? await PumpSession.begin(over: link, clock: world.clock, waitsUntilReady: true) else {
            return
        }
        let isOffOnly = world.isDrawn(6)
        var tasks: [Task<Void, Never>] = []
        for _ in 0..<(5 + world.number(below: 40)) {
            let (command, timeout) = (isOffOnly ? .off : drawCommand(), drawTimeout())
            world.log(.note("begins \(command.text), for \(timeout)"))
            let task = Task(executorPreference: world.loop) {
                _ = try? await session.perform(command, timeout: timeout)
            }
            tasks.append(task)
            if world.isDrawn(2) {
                _ = await world.loop.sleep(until: world.loop.now + world.time(0, 20))
                task.cancel()
            }
            if world.isDrawn(4) { await task.value }
        }
        for task in tasks { await task.value }
        await session.close()
    }

    private func drawTimeout() -> Duration {
        [.milliseconds(1), .milliseconds(5), .milliseconds(50), .milliseconds(150), .seconds(3)][world.number(below: 5)]
    }

    private func drawCommand() -> LineProtocol.PumpCommand {
        switch world.number(below: 8) {
        case 0, 1: .on
        case 2, 3: .speed(PumpSpeed(pwm: world.number(below: 256)) ?? .initial)
        case 4: .temperature
        case 5: .off
        default: .status
        }
    }
}
