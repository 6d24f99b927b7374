import DeviceTestKit
import LineProtocol
import TestSupport

@testable import Verification

/// A firmware on an emulated Nano and its verification, both in the same simulated time: no other program can cause
/// delays, and every run is identical.
///
/// Runs on the thread that created it, and blocks that thread.
final class BoardWorld: @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    /// Longer than the firmware's start, which takes 1.3 s.
    private static let startTime = Duration.seconds(2)

    let loop = SimulatedLoop()
    let board: SteppedBoard
    private(set) var link: SimulatedLink!
    /// The verification's writes to the board, in order.
    private(set) var written: [String] = []
    /// The output of the board that has not been passed to the link yet.
    private var arrived: [UInt8] = []
    /// The board's first error, after which the board does not run any more.
    private var failure: (any Error)?
    /// The time up to which the board runs if no timer is set; nil outside ``rest(for:)``.
    private var horizon: Duration?
    private var task: Task<Void, Never>?

    /// Creates a world whose board has started.
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
        link = SimulatedLink(loop) { [unowned self] bytes in
            written.append(String(decoding: bytes, as: UTF8.self))
            attempt { try board.send(bytes) }
        } onEnd: {
        }
        rest(for: Self.startTime)
    }

    /// Runs the board until it sends something, at most up to the next timer. If no timer is set, the limit is the
    /// horizon, or else one second.
    ///
    /// - Returns: The time of the output; without output, a time just after the limit.
    private func nextActivity() -> Duration {
        let limit = loop.nextTimer ?? horizon ?? loop.now + .seconds(1)
        if arrived.isEmpty, failure == nil, board.now < limit { attempt { arrived = try board.run(until: limit) } }
        // Without output, the timer goes first: at equal times the loop would run the device first.
        return arrived.isEmpty ? max(limit, loop.now) + .microseconds(1) : max(board.now, loop.now)
    }

    /// Calls `body`. An error of the board drops the link, which ends the verification.
    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch {
            failure = failure ?? error
            link.drop()
        }
    }

    // MARK: Board

    /// Performs a verb on the board, and waits in simulated time until the verb is done.
    func perform(_ verb: String, _ arguments: [String]) async throws {
        try board.perform(verb, arguments)
        repeat {
            if await !loop.sleep(until: loop.now + .milliseconds(20)) { throw CancellationError() }
        } while board.isBusy && failure == nil
    }

    /// The motor's duty, 0 to 255; 0 while D8 does not enable the motor.
    func duty() throws -> String {
        let words = try board.perform("pwm").split(separator: " ")
        return words.count == 2 && words[0] == "1" ? String(words[1]) : "0"
    }

    // MARK: Running

    /// The result of a verification: its verdict or its error, and whether it ended within the time limit.
    struct Outcome: Sendable {
        var verdict: FirmwareVerdict?
        var error: (any Error)?
        var ending: SimulatedLoop.Ending
    }

    /// Runs the board for this time while no verification runs.
    func rest(for time: Duration) {
        horizon = loop.now + time
        loop.run(for: time)
        horizon = nil
    }

    /// Verifies the firmware with a stimulus, and with permission to run the pump.
    ///
    /// - Throws: The board's error, if it had one.
    /// - Parameter onResult: Called with each result; returning false ends the checks and switches the pump off.
    func verify(
        checks: [Check]? = nil, rounds: Int = 1, _ onResult: @escaping @Sendable (CheckResult) -> Bool = { _ in true }
    ) throws -> Outcome {
        var options = VerificationOptions()
        options.mayRun = true
        options.rounds = rounds
        // By default OFF is repeated for 30 minutes, which a mutant that ignores OFF would take.
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

    /// Interrupts the running verification.
    func cancel() { task?.cancel() }

    private final class Box: @unchecked Sendable {
        // @unchecked: used on the loop's thread only.
        var verdict: FirmwareVerdict?
        var error: (any Error)?
    }
}

/// The stimulus of a verification in a world: performs verbs on its board, and reads its duty.
private struct BoardHands: Stimulus {
    unowned let world: BoardWorld

    func perform(_ verb: String, _ arguments: [String]) async throws { try await world.perform(verb, arguments) }

    func state() async throws -> [String: String] { ["duty": try world.duty()] }
}
