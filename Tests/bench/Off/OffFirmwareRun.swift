import DeviceKit
import LineProtocol
import TestSupport

@testable import pumpctl

/// Programs that end with OFF, played one after another on one board behind a faulty wire. After each OFF that is
/// reported as done, the motor must be off.
final class OffFirmwareRun: @unchecked Sendable {
    // @unchecked: used on the executor of the board's link only.

    /// 150 s of the fast clock, in which OFF gets through the faulty wire even on a busy machine.
    private static let patience = Duration.seconds(150)

    private let wire: FaultyWire
    private let rig: any PumpRig
    private let clock: ScaledClock
    private(set) var failures: [String] = []
    /// Whether the program has begun its OFF.
    private var isStopping = false

    private init(_ wire: FaultyWire, _ rig: any PumpRig) {
        self.wire = wire
        self.rig = rig
        clock = wire.clock
    }

    /// Plays the programs of `seeds`; returns the failures.
    static func play(seeds: [UInt64], on rig: any PumpRig) async throws -> [String] {
        let board = try await rig.link()
        let run = OffFirmwareRun(FaultyWire(board, .fast), rig)
        return try await Task(executorPreference: board.executor) {
            await run.wire.listen()
            for seed in seeds {
                let count = run.failures.count
                try await run.play(seed: seed)
                if run.failures.count > count {
                    run.failures.append("seed \(seed):\n" + run.wire.transcript.joined(separator: "\n"))
                }
            }
            await board.close()
            return run.failures
        }.value
    }

    /// Plays a program: the seed determines which one, the pump's state before it, and one kind of fault, if any.
    private func play(seed: UInt64) async throws {
        wire.clear(seed: seed)
        isStopping = false
        let program = seed % 5
        try await prepare(isOn: program == 2 || number(3) == 0)
        switch number(4) {
        case 0: wire.faults.lost = [200, 500][number(2)]
        case 1: wire.faults.doubled = 300
        case 2: wire.faults.late = [200, 1000][number(2)]
        default: break
        }
        switch program {
        case 0, 1: try await timedRun(isCut: program == 1)
        case 2: try await halfLines()
        case 3: try await commands(withOther: false)
        default: try await commands(withOther: true)
        }
    }

    private func number(_ bound: Int) -> Int { wire.random.number(below: bound) }
    /// Draws true with a chance of one in `oneIn`.
    private func isDrawn(_ oneIn: Int) -> Bool { number(oneIn) == 0 }

    private func begin() async throws -> PumpSession { try await PumpSession.begin(over: wire.open(), clock: clock) }

    /// Switches the pump off, and then on if `isOn`, before the faults begin.
    private func prepare(isOn: Bool) async throws {
        let session = try await begin()
        try await session.turnOff(timeout: Self.patience)
        // ON may be refused: half a line of the previous run can still be in the board's buffer, and the session may
        // take the error for that line as the reply to ON. The run then begins with the pump off, which is fine too.
        if isOn { try? await session.turnOn(timeout: Self.patience) }
        // All earlier replies come before the reply to TEMP, so the faults do not affect them.
        _ = try await session.readTemperatures(timeout: Self.patience)
        await session.close()
    }

    // MARK: Programs

    /// Other programs leave parts of lines; then a host sends OFF. The pump is on before, so that OFF has an effect.
    private func halfLines() async throws {
        for _ in 0...number(2) {
            // A command has at most 63 bytes. 58 bytes fit alone, but not with every further part.
            let text = ["STA", "SPEED:2", "ON", "O", "OF", "9", String(repeating: "X", count: 58)][number(7)]
            wire.note("others -> \(text)")
            _ = try wire.board.sendAtOnce(Array(text.utf8))
        }
        let session = try await begin()
        try await off(session)
        await session.close()
    }

    /// One or two hosts begin commands, some of them cancelled; then the first host sends OFF.
    private func commands(withOther: Bool) async throws {
        let session = try await begin()
        let other = withOther ? try await begin() : nil
        let tasks = (0...number(3)).map { index in
            let (command, pause) = (drawCommand(), Duration.milliseconds(number(300)))
            let host = index > 0 ? other ?? session : session
            let task = Task(executorPreference: wire.board.executor) {
                try? await self.clock.sleep(for: pause)
                // A command that begins after OFF may rightly switch the pump on.
                guard !self.isStopping else { return }
                do { _ = try await host.perform(command, timeout: .seconds(3)) } catch {
                    self.wire.note("\(command.text): \(error)")
                }
            }
            if isDrawn(3) { task.cancel() }
            return task
        }
        try? await clock.sleep(for: .milliseconds(number(300)))
        if other != nil {
            // The other host may rightly switch the pump on after OFF, so its commands end before OFF begins.
            for task in tasks { await task.value }
            // A query of the other host crosses OFF.
            async let temperatures = other?.readTemperatures()
            try await off(session)
            _ = try? await temperatures
        } else {
            try await off(session)
            for task in tasks { await task.value }
            try await expectOff("off is said, and commands that it has overtaken are over")
        }
        await session.close()
        await other?.close()
    }

    private func drawCommand() -> PumpCommand {
        switch number(6) {
        case 0, 1, 2: .on
        case 3: .speed(PumpSpeed(pwm: number(256)) ?? .initial)
        case 4: .status
        default: .temperature
        }
    }

    /// Sends OFF from a task that may be cancelled. OFF must get through even then.
    private func off(_ session: PumpSession) async throws {
        isStopping = true
        let off = Task(executorPreference: wire.board.executor) { try await session.turnOff(timeout: Self.patience) }
        if isDrawn(3) { off.cancel() }
        do { try await off.value } catch { failures.append("OFF did not get through: \(error)") }
        try await expectOff("off is said")
    }

    /// Records a failure, whose text begins with `what`, if the motor is enabled.
    private func expectOff(_ what: String) async throws {
        if try await rig.motor().isEnabled { failures.append("\(what), and the pump is on") }
    }

    /// A run of the pump for a limited time, which a cut of all links (`isCut`) or a cancellation may end early.
    private func timedRun(isCut: Bool) async throws {
        let session = try await begin()
        let run = PumpRun(
            PumpRun.Plan(time: .milliseconds(number(1500))), timeout: .seconds(3), clock: clock,
            executor: wire.board.executor,
            reopen: { [self] in
                try await clock.sleep(for: .milliseconds(number(300)))
                return wire.open()
            }
        ) { [self] report in
            if case .off = report { wire.note("told: off") }
        }
        let task = Task(executorPreference: wire.board.executor) { try await run.run(session) }
        let pause = Duration.milliseconds(number(600))
        if isCut || isDrawn(2) {
            try await clock.sleep(for: pause)
            if isCut { wire.cut() } else { task.cancel() }
        }
        let result = await task.result
        await session.close()
        // The run reports that it did not switch the pump off, so the motor may be on.
        if case .failure(let error as PumpRunError) = result, [.perhapsOn, .untouched].contains(error.aftermath) {
            return wire.note("\(error)")
        }
        try await expectOff("the run ended with \(result)")
    }
}
