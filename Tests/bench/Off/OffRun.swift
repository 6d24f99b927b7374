import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport

@testable import pumpctl

/// A run of a program that ends with OFF, generated from a seed. It checks that each report of a host is true.
final class OffRun: @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    /// A kind of run. The seed chooses one.
    enum Program: Int, CaseIterable {
        /// A run of the pump for a limited time, as of `pumpctl on --for`.
        case timedRun
        /// Commands within 2.5 s, and then OFF.
        case commands
        /// A timed run, or commands and OFF, while a second host sends commands.
        case shared
        /// Other programs leave parts of lines; then a host sends OFF.
        case halfLines
        /// Commands within 0.3 s, so that most are in flight when OFF begins.
        case inFlight
    }

    let world: OffWorld
    var loop: SimulatedLoop { world.loop }
    private let program: Program
    /// Whether OFF was begun. After that no task begins another command.
    private var isStopping = false
    /// The number of times that each command was begun.
    private var begunCommands: [String: Int] = [:]

    private init(_ world: OffWorld, _ program: Program) {
        self.world = world
        self.program = program
    }

    /// Plays the run of a seed; returns its failures and its transcript.
    static func play(seed: UInt64) -> (failures: [String], transcript: OffTranscript) {
        let program = Program.allCases[Int(seed % UInt64(Program.allCases.count))]
        let world = OffWorld(seed: seed, isShared: program == .shared)
        let run = OffRun(world, program)
        world.prepare(run.past(), isLineFaulty: world.isDrawn(3))
        world.beginFaults()
        world.log(.note("\(program)"))
        // Longer than the longest run of a pump, 30 minutes.
        switch world.loop.run(limit: .seconds(40 * 60), { await run.play() }) {
        case .done: break
        case .deadlock: world.fail("nothing goes on any more")
        case .late: world.fail("it does not end")
        }
        // A host that sends something in this time fails the run.
        world.loop.run(for: .seconds(1.5))
        if world.loop.strayJobs > 0 { world.fail("\(world.loop.strayJobs) jobs came from another thread") }
        return (world.failures, world.transcript)
    }

    /// Draws the events before the run.
    private func past() -> [OffWorld.Past] {
        switch program {
        case .halfLines: [.on]
        case .timedRun, .commands, .shared, .inFlight:
            [[], [], [.on], [.on, .overheating], [.on, .overheating, .off], [.on, .off], [.on, .off, .on]][
                world.number(below: 7)]
        }
    }

    private func play() async {
        switch program {
        case .timedRun: await timedRun()
        case .commands: await commands(within: 2500)
        case .shared: await shared()
        case .halfLines: await halfLines()
        case .inFlight: await commands(within: 300)
        }
    }

    // MARK: Programs

    /// Opens a link and begins a session; returns nil if that fails.
    ///
    /// - Parameter waits: Whether the session waits until the pump is ready.
    private func begin(host: Int = 0, waits: Bool = true) async -> PumpSession? {
        let link = world.open(host: host)
        do {
            return try await PumpSession.begin(over: link, clock: world.clock, waitsUntilReady: waits)
        } catch {
            world.log(.note("no session: \(error)"))
            return nil
        }
    }

    private func commands(within milliseconds: Int) async {
        guard let session = await begin() else { return }
        await commandsAndOff(session, within: milliseconds)
        await session.close()
    }

    /// Begins up to five commands at random times, some of them cancelled, and sends OFF. Commands that have not begun
    /// by then do not begin.
    private func commandsAndOff(_ session: PumpSession, within milliseconds: Int) async {
        let start = loop.now
        let end = start + world.time(0, milliseconds)
        var tasks: [Task<Void, Never>] = []
        for _ in 0...world.number(below: 5) {
            let begin = start + world.time(0, milliseconds)
            let (command, timeout) = (drawCommand(), drawTimeout())
            let task = Task(executorPreference: loop) {
                guard begin < end, await self.loop.sleep(until: begin), !self.isStopping else { return }
                await self.perform(command, session, timeout: timeout)
            }
            tasks.append(task)
            if world.isDrawn(3) { loop.at(start + world.time(0, milliseconds + 1000)) { task.cancel() } }
        }
        _ = await loop.sleep(until: end)
        await off(session)
        for task in tasks { await task.value }
    }

    /// Sends OFF from a task that may be cancelled.
    private func off(_ session: PumpSession) async {
        isStopping = true
        world.edit { facts in
            if facts.hosts.isEmpty { facts.hosts.append(OffFacts.Host()) }
            facts.hosts[0].isStopping = true
        }
        let timeout = drawTimeout()
        let off = Task(executorPreference: loop) { await self.perform(.off, session, timeout: timeout) }
        switch world.number(below: 4) {
        case 0: off.cancel()
        case 1: loop.at(loop.now + world.time(0, 800)) { off.cancel() }
        default: break
        }
        await off.value
    }

    private func halfLines() async {
        for _ in 0...world.number(below: 2) {
            world.intrude(Array(OffFaults.halfLines[world.number(below: 12)].utf8))
            _ = await loop.sleep(until: loop.now + world.time(0, 250))
        }
        guard let session = await begin(waits: false) else { return }
        await off(session)
        await session.close()
    }

    private func shared() async {
        world.edit { $0.hasOthers = true }
        guard let session = await begin(), let other = await begin(host: 1) else { return }
        let others = Task(executorPreference: loop) {
            while !self.isStopping {
                await self.perform(self.drawCommand(), other, host: 1, timeout: self.drawTimeout())
                _ = await self.loop.sleep(until: self.loop.now + self.world.time(0, 700))
            }
        }
        if world.isDrawn(2) {
            await timedRun(session)
        } else {
            await commandsAndOff(session, within: 2000)
        }
        isStopping = true
        await others.value
        await session.close()
        await other.close()
    }

    private func drawTimeout() -> Duration {
        [.seconds(1), .seconds(1.5), .seconds(2), .seconds(3)][world.number(below: 4)]
    }

    private func drawCommand() -> LineProtocol.PumpCommand {
        switch world.number(below: 8) {
        case 0, 1, 2: .on
        case 3, 4: .speed(drawSpeed())
        case 5: .temperature
        case 6: .off
        default: .status
        }
    }

    private func drawSpeed() -> PumpSpeed { PumpSpeed(pwm: world.number(below: 256)) ?? .initial }

    // MARK: A single command

    /// Performs a command, and fails the run if the reported outcome is not true.
    private func perform(
        _ command: LineProtocol.PumpCommand, _ session: PumpSession, host: Int = 0, timeout: Duration
    ) async {
        let begun = loop.now
        begunCommands[command.text, default: 0] += 1
        world.log(.note("host \(host) begins \(command.text)"))
        // If one OFF is in flight, a second one may be unnecessary, so only the first must be sent before other lines.
        if command == .off, begunCommands["OFF"] == 1 { world.edit { $0.beginOff(host: host) } }
        do throws(SessionError) {
            let reply = try await session.perform(command, timeout: timeout)
            world.log(.note("host \(host): \(command.text) is done"))
            judge(reply, since: begun)
        } catch {
            world.log(.note("host \(host): \(error), outcome \(error.outcome.rawValue)"))
            judge(error, of: command, host: host, since: begun, timeout)
        }
    }

    /// Fails the run if a reply says that a command was carried out that the pump has not carried out since `begun`.
    private func judge(_ reply: PumpReply, since begun: Duration) {
        // A button press that the pump handles within its reply immediately undoes the command.
        let isPressed = world.facts.lastPress.map { $0 + .milliseconds(200) >= begun } ?? false
        switch reply {
        case .on where isPressed: break
        case .speed where isPressed: break
        case .on where !world.facts.wasDriven(since: begun) { $0.state == .on }:
            world.fail("ON is said to be carried out, and the pump was not on")
        case .speed(let speed) where !world.facts.wasDriven(since: begun) { $0.duty == speed.pwm }:
            world.fail("SPEED:\(speed.pwm) is said to be carried out, and the pump was not driven so")
        case .off: world.judgeOff(since: begun)
        default: break
        }
    }

    /// Fails the run if an error reports a wrong outcome, or if OFF failed though nothing prevented it.
    private func judge(
        _ error: SessionError, of command: LineProtocol.PumpCommand, host: Int, since begun: Duration,
        _ timeout: Duration
    ) {
        switch command {
        case .off:
            if error.outcome == .nothingChanged { world.fail("OFF is said to have changed nothing") }
            if error.outcome == .notSent, begunCommands["OFF"] == 1, let sent = world.facts.lastOff(of: host),
                sent >= begun
            {
                world.fail("OFF is said not to have been sent")
            }
            // OFF gets through a lossless line in 2 s, whatever other programs send, unless the button switches the
            // pump on again. Other programs can fill the pump's UART, which then swallows parts of any line, so the two
            // seconds count from the last overflow.
            let isUndone = world.facts.lastPress.map { $0 >= begun } ?? false
            let start = max(begun, world.facts.lastOverflow ?? begun)
            let isTimeEnough = begun + timeout - start >= .seconds(2)
            if program == .halfLines, error.code != .linkLost, isTimeEnough, world.isLossless, !isUndone {
                world.fail("OFF did not get through: \(error)")
            }
        case .on, .speed:
            // If a command was begun more than once, it is unknown which one of them the pump has carried out.
            guard error.outcome != .unknown, begunCommands[command.text] == 1, !world.facts.hasOthers else { return }
            guard world.facts.isCarriedOut(command.text, since: begun) else { return }
            // If the reply was lost, an ERROR line that arrives instead looks like the refusal of this command.
            if error.outcome == .nothingChanged, let loss = world.facts.lastLoss, loss >= begun { return }
            world.fail("\(command.text) is said to be \(error.outcome.rawValue), and was carried out")
        case .status, .temperature: break
        }
    }

    // MARK: A timed run

    private func timedRun() async {
        guard let session = await begin() else { return }
        await timedRun(session)
        await session.close()
    }

    private func timedRun(_ session: PumpSession) async {
        let start = loop.now
        // The error state is called a latch, because it lasts until OFF. A run that is refused for it must
        // not clear it.
        let wasLatched = world.pump.state == .error
        let plan = PumpRun.Plan(
            time: world.time(0, world.isDrawn(4) ? 12_000 : 4000), speed: world.isDrawn(2) ? drawSpeed() : nil,
            ignoresSkin: world.isDrawn(3))
        let run = PumpRun(
            plan, timeout: drawTimeout(), clock: world.clock, executor: loop,
            reopen: { [self] in try await reopen() }
        ) { [self] report in take(report, since: start) }
        let task = Task(executorPreference: loop) { try await run.run(session) }
        if world.isDrawn(2) {
            loop.at(start + world.time(0, 5000)) { [world] in
                world.log(.note("a signal"))
                task.cancel()
            }
        }
        let result = await task.result
        judge(result, since: start)
        // A signal may come before the run knows why ON was refused. Then it sends OFF, which ends the error state.
        if case .failure(is CancellationError) = result { return }
        if wasLatched, world.pump.state != .error, world.faults.isLineSound, !world.facts.hasOthers {
            world.fail("the run has cleared the latch")
        }
    }

    private func take(_ report: PumpRun.Report, since start: Duration) {
        switch report {
        case .on(let report):
            world.log(.note("told: \(report.text)"))
            // pumpctl does not print a report whose query has failed.
            if report.failure == nil { judge(report) }
        case .off:
            world.log(.note("told: off"))
            world.judgeOff(since: world.facts.hosts.first?.firstOff)
        case .offUnanswered, .lost, .overrun: world.log(.note("told: \(report)"))
        case .begins, .runs, .leftAlone: break
        }
    }

    /// Fails the run if the reported speed was never the pump's since the host's first ON.
    private func judge(_ report: PumpOnReport) {
        guard let start = world.facts.hosts.first?.firstOn else { return }
        // A line that lost a byte may say 7 % instead of 70 %: both are valid by the protocol.
        if let damage = world.facts.lastDamage, damage >= start { return }
        if let percent = report.status?.speedPercent,
            !world.facts.wasDriven(since: start, { $0.state == .on && Int($0.duty) * 100 / 255 == Int(percent) })
        {
            world.fail("on at \(percent) % is said, which the pump never was")
        }
        if let speed = report.speed, !world.facts.wasDriven(since: start, { $0.duty == speed.pwm }) {
            world.fail("on at PWM \(speed.pwm) is said, which the pump never was")
        }
    }

    /// Fails the run if the end of a timed run leaves the pump on without a warning.
    private func judge(_ result: Result<Void, any Error>, since start: Duration) {
        let off = world.facts.hosts.first?.firstOff
        switch result {
        case .success:
            world.log(.note("the run returns"))
            world.judgeLeftOff(since: off, "all is well")
        case .failure(let error as PumpRunError):
            world.log(.note("the run throws: \(error)"))
            switch error.aftermath {
            case .perhapsOn: break
            case .untouched:
                if world.facts.hosts.first?.firstOn != nil { world.fail("ON is said not to be sent, and was") }
            case .off, .stoppedForSafety: world.judgeLeftOff(since: off ?? start, "\(error)")
            }
        case .failure(let error):
            world.log(.note("the run throws: \(error)"))
            world.judgeLeftOff(since: off, "\(error)")
        }
    }

    /// Opens a link once the device is back. If it never comes back, throws at once, or after an hour, which is longer
    /// than a run.
    private func reopen() async throws -> any Link {
        world.log(.note("the device is wanted back"))
        guard let absence = world.faults.absence else {
            if world.isDrawn(2) { throw LinkError(.notFound, name: "bench", activity: "open") }
            _ = await loop.sleep(until: .seconds(60 * 60))
            throw CancellationError()
        }
        guard await loop.sleep(until: loop.now + absence) else { throw CancellationError() }
        return world.open(host: 0)
    }
}
