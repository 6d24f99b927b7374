internal import LineProtocol

/// The state of a running ``LineConsole``, and the handling of its events, all in the task that calls
/// ``run(over:_:)``.
final class ConsoleConversation {
    private let family: Family
    private let reconnector: Reconnector
    private let options: LineConsole.Options
    private let watch: SessionClock
    private let clock: any Clock<Duration>
    private let executor: any TaskExecutor
    private let events: AsyncStream<LineConsole.Event>.Continuation
    private let perform: @Sendable (_ line: [UInt8]) -> LineConsole.LineUse
    private let tell: @Sendable (ConsoleHappening) -> Void

    private var link: ConsoleLink?
    private var lines = DeviceLines()
    /// The number of times that bytes have arrived.
    private var arrivals = 0
    /// The line that was queued last for the device; nil if bytes have arrived since, or a link was lost.
    private var pending: [UInt8]?
    /// The script whose lines are sent; nil if a person types.
    private var script: ConsoleScript?
    /// The console's background tasks, by purpose.
    private var tasks: [Errand: Task<Void, Never>] = [:]
    private var isFinished = false
    /// The lines that were not sent when the console ended.
    private(set) var unsentLines: [[UInt8]] = []

    init(
        _ family: Family, _ reconnector: Reconnector, _ options: LineConsole.Options, clock: any Clock<Duration>,
        executor: any TaskExecutor, _ events: AsyncStream<LineConsole.Event>.Continuation,
        perform: @escaping @Sendable (_ line: [UInt8]) -> LineConsole.LineUse,
        tell: @escaping @Sendable (ConsoleHappening) -> Void
    ) {
        self.family = family
        self.reconnector = reconnector
        self.options = options
        self.clock = clock
        self.executor = executor
        self.events = events
        self.perform = perform
        self.tell = tell
        watch = SessionClock(clock)
        if options.isScript { script = ConsoleScript(options.answers) }
    }

    /// Runs the console: see ``LineConsole/run(over:)``. May be called once.
    func run(over opened: any Link, _ stream: AsyncStream<LineConsole.Event>) async throws -> ConsoleResult {
        // If reading fails here, `consoleLink` reports the lost link.
        for line in (try? await DeviceLines.earlier(on: opened)) ?? [] { tell(.heardBefore(line)) }
        link = await consoleLink(opened)
        let result: Result<Void, any Error>
        do { result = .success(try await attend(stream)) } catch { result = .failure(error) }
        for task in tasks.values {
            task.cancel()
            await task.value
        }
        unsentLines = await link?.close() ?? []
        events.finish()
        let loss = await drain(stream)
        try result.get()
        if let loss { throw loss }
        return script?.result ?? ConsoleResult()
    }

    /// Handles the events that arrived while the console was ending. Nothing is sent any more: entered lines are added
    /// to ``unsentLines``. Lines of the device and failures to send are reported.
    ///
    /// - Returns: The error of the first line that could not be sent, or of a link that broke before the device
    ///   answered the last typed line; nil if there was none.
    private func drain(_ stream: AsyncStream<LineConsole.Event>) async -> LinkError? {
        var loss: LinkError?
        while let event = await stream.nextInSpiteOfCancellation(on: executor) {
            switch event {
            case .entered(let line): if !line.isEmpty { unsentLines.append(line) }
            case .link(.notSent(let line, let error)):
                tell(.notSent(line, error))
                loss = loss ?? error
            case .link(.arrived(.bytes(let bytes))):
                pending = nil
                for line in lines.append(bytes) { tell(.heard(line)) }
            case .link(.arrived(.ended(let error))):
                // A script has waited for its answers by then, so only the outcome of typed lines can be unknown.
                if script == nil, pending != nil, error?.code != .closed { loss = loss ?? error }
            case .reopened(let link): await link.close()
            case .scripted, .ended, .reopeningFailed, .lineEndOverdue, .quiet, .interrupted: break
            }
        }
        showPending()
        return loss
    }

    private func attend(_ stream: AsyncStream<LineConsole.Event>) async throws {
        while let event = await stream.nextInSpiteOfCancellation(on: executor) {
            try await take(event)
            if isFinished { return }
        }
    }

    /// Handles one event.
    ///
    /// - Throws: The error that ends the console.
    private func take(_ event: LineConsole.Event) async throws {
        switch event {
        case .entered(let line): enter(line)
        case .scripted(let bytes):
            script?.append(bytes)
            goOnWithScript()
        case .ended: endInput()
        case .link(.arrived(.bytes(let bytes))): take(bytes)
        case .link(.arrived(.ended(let error))): try await lose(error)
        case .link(.notSent(let line, let error)): tell(.notSent(line, error))
        case .reopened(let link): await resume(link)
        case .reopeningFailed(let error): throw error
        case .lineEndOverdue(let arrivals): if arrivals == self.arrivals { showPending() }
        case .quiet: endWait()
        case .interrupted: throw CancellationError()
        }
    }

    // MARK: Input

    /// Handles the end of the input: ends a console for a person; a script still sends its remaining lines.
    private func endInput() {
        guard script != nil else {
            isFinished = true
            return
        }
        script?.end(at: watch.elapsed())
        goOnWithScript()
    }

    /// Handles an entered line: passes it to `perform`, and queues it for the device if `perform` returns `send`, the
    /// line may be sent (see ``LineConsole/Options/sendsDangerous``), and a device is connected. Returns whether the
    /// line was queued.
    @discardableResult
    private func enter(_ line: [UInt8]) -> Bool {
        if line.isEmpty { return false }
        switch perform(line) {
        case .send: break
        case .done: return false
        case .end:
            isFinished = true
            return false
        }
        if !options.sendsDangerous, let reason = family.wire.danger(line) {
            tell(.dangerous(line, reason: reason))
            script?.refusals += 1
            return false
        }
        guard let link else {
            tell(.noDevice(line))
            return false
        }
        link.send(line)
        pending = line
        return true
    }

    // MARK: The script

    /// Sends the next line of the script, unless the script waits for the device. Lines that are not sent, such as
    /// empty ones, are passed over.
    private func goOnWithScript() {
        while !isFinished, let line = script?.nextLine() {
            if enter(line) { script?.waitForAnswer(to: line, from: watch.elapsed()) }
        }
        if script?.isOver == true { isFinished = true }
        if !isFinished { waitForQuiet() }
    }

    /// Waits until the device has been silent long enough, then continues the script.
    private func waitForQuiet() {
        let now = watch.elapsed()
        guard let rest = script?.rest(at: now) else { return }
        run(.awaitingQuiet) { [events, watch] in
            if (try? await watch.sleep(now + rest)) != nil { events.yield(.quiet) }
        }
    }

    /// Ends the wait for the device, if its time is over.
    private func endWait() {
        // Bytes may have arrived before this `.quiet` event was handled.
        guard let rest = script?.rest(at: watch.elapsed()), rest <= .zero else { return waitForQuiet() }
        showPending()
        if let line = script?.stopWaiting() { tell(.unanswered(line)) }
        if script?.isOver == true { isFinished = true } else { goOnWithScript() }
    }

    // MARK: The device

    /// Handles bytes from the device.
    private func take(_ bytes: [UInt8]) {
        arrivals += 1
        pending = nil
        script?.heard(at: watch.elapsed())
        for line in lines.append(bytes) {
            script?.take(line, of: family)
            tell(.heard(line))
        }
        if let script, !script.isWaiting { goOnWithScript() } else { waitForQuiet() }
        guard lines.hasPending else { return }
        run(.awaitingLineEnd) { [events, arrivals, clock] in
            if (try? await clock.sleep(for: DeviceLines.patience)) != nil {
                events.yield(.lineEndOverdue(arrivals: arrivals))
            }
        }
    }

    /// Reports the partial line from the device, if there is one.
    private func showPending() {
        if let line = lines.takePending() { tell(.heard(line)) }
    }

    /// Wraps a link for the console. A script needs no reading time between lines, because it waits for each answer.
    private func consoleLink(_ link: any Link) async -> ConsoleLink {
        await ConsoleLink(
            link, ends: options.ends, readingTime: script == nil ? family.readingTime : .zero, clock: clock
        ) { [events] in
            events.yield(.link($0))
        }
    }

    /// Handles the end of the link: starts to wait for the device.
    ///
    /// - Throws: ``ScriptLossError`` for a script.
    private func lose(_ error: LinkError?) async throws {
        showPending()
        lines.reset()
        await link?.close()
        link = nil
        defer { pending = nil }
        if let script {
            throw ScriptLossError(
                link: error, pending: pending, unsentCount: script.unsentCount, mayFollow: !script.hasEnded)
        }
        tell(.lost(error, pending: pending))
        run(.reopening) { [events, reconnector] in
            do {
                let link = try await reconnector.link()
                if case .terminated = events.yield(.reopened(link)) { await link.close() }
            } catch {
                events.yield(.reopeningFailed(error))
            }
        }
    }

    private func resume(_ link: any Link) async {
        self.link = await consoleLink(link)
        tell(.back(name: link.name))
    }

    private enum Errand { case awaitingQuiet, awaitingLineEnd, reopening }

    /// Starts a background task that ends with the console. The task replaces the previous one for the same purpose.
    private func run(_ errand: Errand, _ body: @escaping @Sendable () async -> Void) {
        tasks[errand]?.cancel()
        tasks[errand] = Task(executorPreference: executor) { await body() }
    }
}
