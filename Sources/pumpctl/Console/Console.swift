import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import Transports

/// A terminal for a device that speaks in lines: standard input and the screen of a ``DeviceKit/LineConsole``.
///
/// Everything that happens is an event of one stream, attended to in order, so that nothing here waits for anything else.
final class Console {
    private let context: CommandContext
    private let options: ConsoleOptions
    private let endpoint: Endpoint
    private let screen: ConsoleScreen
    private let events: AsyncStream<ConsoleEvent>.Continuation
    private let stream: AsyncStream<ConsoleEvent>

    /// Whether nothing more is read: what was entered is still sent.
    private var isInputOver = false
    private var isScript: Bool { screen.editor == nil }
    private var reading: Task<Void, Never>?

    init(_ context: CommandContext, _ options: ConsoleOptions) throws {
        self.context = context
        self.options = options
        endpoint = try context.endpoint()
        (stream, events) = AsyncStream.makeStream(of: ConsoleEvent.self)
        screen = ConsoleScreen(context.output, showsTime: options.showsTime)
    }

    /// Runs until the user, the end of standard input, or a signal ends it.
    func run() async throws {
        let link = try await context.openLink(endpoint, for: .watching, note: note)
        let console = console(context.reconnector(endpoint, link, note: note))
        let resizing = try? await SignalSource.open([SIGWINCH], on: context.loop) { [events] _ in
            events.yield(.resized)
        }
        startEditor()
        let conversation = Task(executorPreference: context.loop) { [events] in
            defer { events.yield(.ended) }
            return try await console.run(over: link)
        }
        readInput()
        let result = await withTaskCancellationHandler {
            await attend(console)
            screen.editor?.stop()
            return await conversation.result
        } onCancel: { [events] in
            events.yield(.quit)
            conversation.cancel()
        }
        reading?.cancel()
        await resizing?.close()
        for line in console.unsentLines { screen.note("may not have been sent: \(line.printable())") }
        try conclude(result)
    }

    private func console(_ reconnector: Reconnector) -> LineConsole {
        var behaviour = LineConsole.Options()
        behaviour.isScript = isScript
        behaviour.quiet = options.quiet
        behaviour.timeout = context.timeout
        behaviour.sendsDangerous = options.sendsDangerous
        return LineConsole(with: context.family, reconnector, behaviour, clock: context.clock, executor: context.loop) {
            [events] line in
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix(":") else { return .send }
            if text == ":quit" || text == ":q" {
                events.yield(.quit)
                return .end
            }
            events.yield(.asked(text))
            return .done
        } tell: { [events] happening in
            events.yield(.happened(happening))
        }
    }

    /// Attends to what happens until the conversation has ended. Where the task is cancelled it goes on until then: what the
    /// device has said last is shown.
    private func attend(_ console: LineConsole) async {
        while let event = await stream.nextInSpiteOfCancellation(on: context.loop) {
            switch event {
            case .typed(let bytes):
                take(bytes, for: console)
                if !isInputOver { readInput() }
            case .inputEnded: end(console)
            case .quit: endInput()
            case .happened(let happening): show(happening)
            case .asked(let command): answer(command)
            case .ended: return
            case .resized: screen.editor?.resize()
            case .note(let text): screen.note(text)
            }
        }
    }

    private func conclude(_ result: Result<ConsoleResult, any Error>) throws {
        let place = DevicePlace(endpoint.text)
        do {
            try result.get().conclude(context.timeout, context.family, at: place)
        } catch let error as ScriptLossError {
            throw Failure(error, at: place)
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
        reading = Task(executorPreference: context.loop) { [events, loop = context.loop] in
            do {
                let bytes = try await StandardInput.read(on: loop)
                events.yield(bytes.map { .typed($0) } ?? .inputEnded)
            } catch {
                // Cancelled: nobody attends any more.
            }
        }
    }

    private func end(_ console: LineConsole) {
        endInput()
        console.end()
    }

    /// Reads no more, and gives the terminal back.
    private func endInput() {
        isInputOver = true
        reading?.cancel()
        screen.editor?.stop()
    }

    private func take(_ bytes: [UInt8], for console: LineConsole) {
        guard let editor = screen.editor else { return console.append(bytes) }
        for result in editor.take(bytes, at: context.clock.now) {
            switch result {
            case .line(let line):
                if !line.isEmpty {
                    editor.remember(line)
                    history?.append(line)
                }
                console.enter(RawByte.bytes(of: line))
            case .interrupt:
                // As anywhere else: the program is interrupted, once the terminal is as it was.
                editor.stop()
                kill(getpid(), SIGINT)
                return
            case .end: return end(console)
            case .suspend: editor.suspend()
            }
        }
    }

    // MARK: What is shown

    private func answer(_ command: String) {
        guard command == ":help" else {
            return screen.note("there is no command '\(command.printable())': see :help")
        }
        screen.note("what you type is sent as a line; the arrow keys go through earlier lines")
        screen.note("Ctrl-R goes to an earlier line that begins with what is typed")
        screen.note(":quit or Ctrl-D ends; Ctrl-C clears the line, or ends on an empty one; :help shows this")
    }

    private func show(_ happening: ConsoleHappening) {
        switch happening {
        case .heard(let line): screen.show(line)
        case .dangerous(_, let reason): screen.note("not sent: \(reason); 'console --force' sends it all the same")
        case .noDevice(let line): screen.note("not sent, since there is no device: \(line.printable())")
        case .notSent(let line, let error): screen.note("not sent: \(line.printable()) (\(error))")
        case .unanswered(let line): screen.note("no answer to '\(line.printable(limit: 60))'")
        case .lost(let error, let pending):
            screen.note(Self.loss(error, pending, at: endpoint.text))
            screen.note("waiting for the device to come back")
            screen.editor?.setPrompt(Self.promptWhileLost)
        case .back(let name):
            screen.editor?.setPrompt(Self.prompt)
            let place = name == endpoint.text ? "" : " as \(name)"
            screen.note("\(endpoint.text) is back\(place); the device may have started anew")
        }
    }

    /// That the link is lost, and what may have become of the line that was sent last.
    static func loss(_ error: LinkError?, _ pending: [UInt8]?, at name: String) -> String {
        (error.map { "\($0)" } ?? "\(name): the link is closed")
            + (pending.map { "; whether '\($0.printable())' was carried out is unknown" } ?? "")
    }

    /// Shows what goes over the link: on the side, and above the line that is edited if there is one.
    private var note: @Sendable (String) -> Void {
        if isScript { return context.output.note }
        return { [events] text in events.yield(.note(text)) }
    }
}
