import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import Transports

/// A terminal for a device that speaks in lines.
///
/// Everything that happens is an event of one stream, attended to in order, so that nothing here waits for anything else.
final class Console {
    private let context: CommandContext
    private let options: ConsoleOptions
    private let endpoint: Endpoint
    private let screen: ConsoleScreen
    private let events: AsyncStream<ConsoleEvent>.Continuation
    private let stream: AsyncStream<ConsoleEvent>

    private var link: ConsoleLink?
    private var lines = DeviceLines()
    private var arrivals = 0
    /// The line that was sent last, if nothing has come since.
    private var unanswered: [UInt8]?
    private var script: ConsoleScript?
    private var reconnector: Reconnector?
    /// What goes on beside the console, by what it is for.
    private var tasks: [Errand: Task<Void, Never>] = [:]
    private var isFinished = false

    init(_ context: CommandContext, _ options: ConsoleOptions) throws {
        self.context = context
        self.options = options
        endpoint = try context.endpoint()
        (stream, events) = AsyncStream.makeStream(of: ConsoleEvent.self)
        screen = ConsoleScreen(context.output, showsTime: options.showsTime)
        if screen.editor == nil { script = ConsoleScript() }
    }

    /// Runs until the user, the end of standard input, or a signal ends it.
    func run() async throws {
        let opened = try await open()
        link = await consoleLink(opened)
        reconnector = context.reconnector(endpoint, opened, note: note)
        let resizing = try? await SignalSource.open([SIGWINCH], on: context.loop) { [events] _ in
            events.yield(.resized)
        }
        startEditor()
        readInput()
        let result: Result<Void, any Error>
        do { result = .success(try await attend()) } catch { result = .failure(error) }
        screen.editor?.stop()
        for task in tasks.values { task.cancel() }
        await resizing?.close()
        for line in await link?.close() ?? [] { screen.note("may not have been sent: \(line.printable())") }
        try result.get()
        try script?.conclude(context.timeout, context.family, at: DevicePlace(endpoint.text))
    }

    private func attend() async throws {
        for await event in stream {
            try await take(event)
            if isFinished { return }
        }
        throw CancellationError()
    }

    private func take(_ event: ConsoleEvent) async throws {
        switch event {
        case .typed(let bytes):
            take(typed: bytes)
            if !isFinished { readInput() }
        case .inputEnded: endInput()
        case .arrived(.bytes(let bytes)): take(arrived: bytes)
        case .arrived(.ended(let error)): try await lose(error)
        case .reopened(let link): await resume(link)
        case .reopeningFailed(let error): throw error
        case .notSent(let line, let error): screen.note("not sent: \(line.printable()) (\(error))")
        case .lineEndOverdue(let arrivals): if arrivals == self.arrivals { showPending() }
        case .quiet: endWait()
        case .resized: screen.editor?.resize()
        case .note(let text): screen.note(text)
        }
    }

    // MARK: Input

    private func startEditor() {
        guard let editor = screen.editor else { return }
        if let history { editor.setHistory(history.load()) }
        editor.setPrompt(Self.prompt)
        editor.start()
        screen.note("\(endpoint.text) is open; Ctrl-D ends, :help tells more")
    }

    private static let prompt = "> "
    private static let promptWhileLost = "(no device) > "

    private lazy var history = LineHistory()

    private func readInput() {
        run(.readingInput) { [events, loop = context.loop] in
            do {
                let bytes = try await StandardInput.read(on: loop)
                events.yield(bytes.map { .typed($0) } ?? .inputEnded)
            } catch {
                // Cancelled: nobody attends any more.
            }
        }
    }

    private func take(typed bytes: [UInt8]) {
        guard let editor = screen.editor else {
            script?.append(bytes)
            return goOnWithScript()
        }
        for result in editor.take(bytes, at: context.clock.now) {
            switch result {
            case .line(let line):
                if !line.isEmpty {
                    editor.remember(line)
                    history?.append(line)
                }
                enter(RawByte.bytes(of: line))
            case .interrupt:
                // As anywhere else: the program is interrupted, once the terminal is as it was.
                editor.stop()
                kill(getpid(), SIGINT)
                return
            case .end: isFinished = true
            case .suspend: editor.suspend()
            }
            if isFinished { return }
        }
    }

    private func endInput() {
        guard script != nil else {
            isFinished = true
            return
        }
        script?.end(at: context.clock.now)
        goOnWithScript()
    }

    /// Does what a line asks for. Returns whether it was sent.
    @discardableResult
    private func enter(_ line: [UInt8]) -> Bool {
        let text = String(decoding: line, as: UTF8.self)
        if text.isEmpty { return false }
        if text.hasPrefix(":") {
            perform(local: text)
            return false
        }
        if !options.sendsDangerous, let reason = context.family.facts.danger(line) {
            screen.note("not sent: \(reason); 'console --force' sends it all the same")
            script?.refusals += 1
            return false
        }
        guard let link else {
            screen.note("not sent, since there is no device: \(line.printable())")
            return false
        }
        link.send(line)
        unanswered = line
        return true
    }

    private func perform(local command: String) {
        switch command {
        case ":quit", ":q": isFinished = true
        case ":help":
            screen.note(
                "what you type is sent as a line; the arrow keys go through earlier lines")
            screen.note("Ctrl-R goes to an earlier line that begins with what is typed")
            screen.note(":quit or Ctrl-D ends; Ctrl-C clears the line, or ends on an empty one; :help shows this")
        default: screen.note("there is no command '\([UInt8](command.utf8).printable())': see :help")
        }
    }

    // MARK: The script

    private func goOnWithScript() {
        while !isFinished, let line = script?.nextLine() {
            if enter(line) { script?.waitForAnswer(to: line, from: context.clock.now) }
        }
        if !isFinished { waitForQuiet() }
    }

    /// Goes on with the script once the device has said what it has to say.
    private func waitForQuiet() {
        let rest = script?.rest(ofQuiet: options.quiet, timeout: context.timeout, at: context.clock.now)
        guard let rest else { return }
        run(.awaitingQuiet) { [events, clock = context.clock] in
            if (try? await clock.sleep(for: rest)) != nil { events.yield(.quiet) }
        }
    }

    private func endWait() {
        // An arrival may have come before the word that it was quiet.
        let rest = script?.rest(ofQuiet: options.quiet, timeout: context.timeout, at: context.clock.now)
        guard let rest, rest <= .zero else { return waitForQuiet() }
        showPending()
        if let line = script?.stopWaiting() { screen.note("no answer to '\(line.printable(limit: 60))'") }
        if script?.isOver == true { isFinished = true } else { goOnWithScript() }
    }

    // MARK: The device

    private func take(arrived bytes: [UInt8]) {
        arrivals += 1
        unanswered = nil
        script?.heard(at: context.clock.now)
        for line in lines.append(bytes) {
            script?.take(line, errorCode: context.family.facts.errorCode)
            screen.show(line)
        }
        waitForQuiet()
        guard lines.hasPending else { return }
        run(.awaitingLineEnd) { [events, arrivals, clock = context.clock] in
            let patience = DeviceLines.patience
            if (try? await clock.sleep(for: patience)) != nil { events.yield(.lineEndOverdue(arrivals: arrivals)) }
        }
    }

    private func showPending() {
        if let line = lines.takePending() { screen.show(line) }
    }

    private func open() async throws -> any Link {
        try await context.openLink(endpoint, for: .watching, note: note)
    }

    /// Shows what goes over the link: on the side, and above the line that is edited if there is one.
    private var note: @Sendable (String) -> Void {
        if screen.editor == nil { return context.output.note }
        return { [events] text in events.yield(.note(text)) }
    }

    /// A script waits for answers by itself.
    private func consoleLink(_ link: any Link) async -> ConsoleLink {
        await ConsoleLink(
            link, events, readingTime: script == nil ? context.family.facts.readingTime : .zero, clock: context.clock)
    }

    private func lose(_ error: LinkError?) async throws {
        showPending()
        lines.reset()
        await link?.close()
        link = nil
        let reason = error.map { "\($0)" } ?? "\(endpoint.text): the link is closed"
        let unknown = unanswered.map { "; whether '\($0.printable())' was carried out is unknown" } ?? ""
        unanswered = nil
        if let script {
            var failure = script.failure(reason + unknown)
            failure.hint = DevicePlace.adviceOnLoss(at: DevicePlace(endpoint.text))
            throw failure
        }
        screen.note(reason + unknown)
        screen.note("waiting for the device to come back")
        screen.editor?.setPrompt(Self.promptWhileLost)
        run(.reopening) { [events, reconnector] in
            guard let reconnector else { return }
            do {
                events.yield(.reopened(try await reconnector.link()))
            } catch {
                events.yield(.reopeningFailed(error))
            }
        }
    }

    private func resume(_ link: any Link) async {
        self.link = await consoleLink(link)
        screen.editor?.setPrompt(Self.prompt)
        let place = link.name == endpoint.text ? "" : " as \(link.name)"
        screen.note("\(endpoint.text) is back\(place); the device may have started anew")
    }

    private enum Errand { case readingInput, awaitingQuiet, awaitingLineEnd, reopening }

    /// Runs `body` beside the console, in place of what ran for the same purpose, and no longer than the console.
    private func run(_ errand: Errand, _ body: @escaping @Sendable () async -> Void) {
        tasks[errand]?.cancel()
        tasks[errand] = Task(executorPreference: context.loop) { await body() }
    }
}
