import LineProtocol
import TestSupport

@testable import Verification

/// A firmware on an emulated Nano and its verification, both in the same simulated time: no other program's business makes
/// anything late, and each run is like the one before.
///
/// It runs on the thread that made it, which it blocks.
final class BoardWorld: @unchecked Sendable {
    // @unchecked: it is touched on the simulated loop's thread only.

    /// Longer than a board takes to start.
    private static let startTime = Duration.seconds(2)

    let loop = SimulatedLoop()
    let board: SteppedBoard
    private(set) var link: LossyLink!
    /// What was written to the board.
    private(set) var written: [String] = []
    /// What the board has said, and nobody has heard.
    private var arrived: [UInt8] = []
    private var failure: (any Error)?
    /// How far the board may live where nobody waits for a time.
    private var horizon: Duration?
    private var task: Task<Void, Never>?

    /// A board that has started.
    ///
    /// - Parameter firmware: The path of an ELF file.
    init(firmware: String) throws {
        board = try SteppedBoard(firmware: firmware)
        loop.device = SimulatedLoop.Device(
            next: { [unowned self] in nextActivity() },
            step: { [unowned self] _ in
                let bytes = arrived
                arrived = []
                if !bytes.isEmpty { link.arrive(bytes) }
            })
        link = LossyLink(loop) { [unowned self] bytes in
            written.append(String(decoding: bytes, as: UTF8.self))
            attempt { try board.send(bytes) }
        } onEnd: {
        }
        rest(for: Self.startTime)
    }

    /// Lets the board run for as long as its host does nothing: when it next says anything.
    private func nextActivity() -> Duration {
        let limit = loop.nextTimer ?? horizon ?? loop.now + .seconds(1)
        if arrived.isEmpty, failure == nil, board.now < limit { attempt { arrived = try board.run(until: limit) } }
        // A board that sleeps wakes a little late.
        return arrived.isEmpty ? max(limit, loop.now) + .microseconds(1) : max(board.now, loop.now)
    }

    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch {
            failure = failure ?? error
            link.drop()
        }
    }

    // MARK: Hands

    /// Does something to the board, and waits until it was done.
    func perform(_ verb: String, _ arguments: [String]) async throws {
        try board.perform(verb, arguments)
        repeat {
            if await !loop.sleep(until: loop.now + .milliseconds(20)) { throw CancellationError() }
        } while board.isBusy && failure == nil
    }

    /// What the motor is driven with: 0 to 255; 0 also where D8 does not enable it.
    func duty() throws -> String {
        let words = try board.perform("pwm").split(separator: " ")
        return words.count == 2 && words[0] == "1" ? String(words[1]) : "0"
    }

    // MARK: Running

    struct Outcome: Sendable {
        var verdict: FirmwareVerdict?
        var error: (any Error)?
        var ending: SimulatedLoop.Ending
    }

    /// Lets time go by, in which the host does nothing.
    func rest(for time: Duration) {
        horizon = loop.now + time
        loop.run(for: time)
        horizon = nil
    }

    /// Verifies the firmware, with hands at the board, and leave to run it.
    ///
    /// - Parameter onResult: Called with each result; false makes no further check, and switches the board off.
    func verify(
        checks: [Check]? = nil, rounds: Int = 1, _ onResult: @escaping @Sendable (CheckResult) -> Bool = { _ in true }
    ) throws -> Outcome {
        var options = VerificationOptions()
        options.mayRun = true
        options.rounds = rounds
        options.offLimit = .seconds(30)
        let verification = Verification(
            .pump, over: link, checks: checks, clock: SimulatedClock(loop: loop), options: options,
            stimulus: BoardHands(world: self))
        let box = Box()
        let ending = loop.run(limit: .seconds(1000)) {
            let task = Task(executorPreference: self.loop) {
                do {
                    box.verdict = try await verification.run { if !onResult($0) { self.cancel() } }
                } catch { box.error = error }
            }
            self.task = task
            await task.value
        }
        if let failure { throw failure }
        return Outcome(verdict: box.verdict, error: box.error, ending: ending)
    }

    /// Interrupts the verification that is under way.
    func cancel() { task?.cancel() }

    private final class Box: @unchecked Sendable {
        // @unchecked: touched by the loop's thread only.
        var verdict: FirmwareVerdict?
        var error: (any Error)?
    }
}

private struct BoardHands: Stimulus {
    unowned let world: BoardWorld

    func perform(_ verb: String, _ arguments: [String]) async throws { try await world.perform(verb, arguments) }

    func state() async throws -> [String: String] { ["duty": try world.duty()] }
}
