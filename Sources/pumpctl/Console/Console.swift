import DescriptorIO
import DeviceKit
import LineProtocol
import Terminal
import Transports

/// A terminal for a device that speaks in lines: standard input and the screen of a ``DeviceKit/LineConsole``.
///
/// The standard input, the conversation with the device and the link put their events into one stream without waiting;
/// the events are handled one by one, in order.
struct Console {
    /// An event to handle.
    private enum Event: Sendable {
        /// Standard input has bytes or has ended, or the terminal has another size.
        case input(LineScreen.Event)
        /// The conversation reports a line of the device or a change.
        case happened(ConsoleHappening)
        /// The user has entered a command for this program, such as `:help`.
        case asked(String)
        /// The user has entered `:quit`, or the task was cancelled.
        case quit
        /// The conversation has ended.
        case ended
        /// A note to show.
        case note(String)
    }

    private let context: CommandContext
    private let behaviour: LineConsole.Options
    private let showsTime: Bool
    private let endpoint: Endpoint
    private let screen: ConsoleScreen
    private let events: AsyncStream<Event>.Continuation
    private let stream: AsyncStream<Event>

    /// Whether a script gives the lines to send: standard input or standard output is no terminal.
    private var isScript: Bool { !screen.lines.isEdited }
    private static let prompt = "> "
    private static let promptWhileLost = "(no device) > "

    /// Creates a console. ``run()`` opens its link.
    ///
    /// - Parameter showsTime: Whether each line of the device is preceded by its time of arrival.
    init(_ context: CommandContext, _ behaviour: LineConsole.Options, showsTime: Bool) throws {
        self.context = context
        self.behaviour = behaviour
        self.showsTime = showsTime
        endpoint = try context.endpoint()
        (stream, events) = AsyncStream.makeStream(of: Event.self)
        let lines = LineScreen(
            for: "pumpctl", history: Self.history, on: context.loop, write: context.output.draw
        ) { [events] in events.yield(.input($0)) }
        screen = ConsoleScreen(lines: lines, output: context.output)
    }

    /// The lines typed in earlier consoles; nil if there is no folder for them.
    private static var history: LineHistory? {
        guard let folder = StateFolder.path else { return nil }
        PrivateFolder.make(folder)
        return LineHistory(path: folder + "/history")
    }

    /// Runs until the user, the end of standard input, a signal or an error ends the console. In a script, a lost link
    /// is such an error.
    func run() async throws {
        let link = try await context.openLink(endpoint, for: .watching, note: note)
        let console = console(context.reconnector(endpoint, link, note: note))
        await screen.lines.start(prompt: Self.prompt)
        if !isScript { screen.note("\(endpoint.text) is open; Ctrl-D ends, :help shows help") }
        let conversation = Task(executorPreference: context.loop) { [events] in
            defer { events.yield(.ended) }
            return try await console.run(over: link)
        }
        let result = await withTaskCancellationHandler {
            await attend(console)
            screen.lines.stop()
            return await conversation.result
        } onCancel: { [events] in
            events.yield(.quit)
            conversation.cancel()
        }
        await screen.lines.close()
        for line in console.unsentLines { screen.note("may not have been sent: \(line.printable())") }
        let place = DevicePlace(endpoint.text)
        do {
            try result.get().conclude(context.timeout, context.family, at: place)
        } catch let error as ScriptLossError {
            throw Failure(error, at: place)
        }
    }

    private func console(_ reconnector: Reconnector) -> LineConsole {
        var behaviour = behaviour
        behaviour.isScript = isScript
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

    /// Handles events until the conversation has ended, even if the task is cancelled, so that the device's last lines
    /// are shown.
    private func attend(_ console: LineConsole) async {
        while let event = await stream.nextInSpiteOfCancellation(on: context.loop) {
            switch event {
            case .input(let event): for input in screen.lines.take(event) { enter(input, console) }
            case .quit: screen.lines.stop()
            case .happened(let happening): show(happening)
            case .asked(":help"): Self.help.forEach(screen.note)
            case .asked(let command): screen.note("unknown command '\(command.printable())'; use: :help, :quit")
            case .ended: return
            case .note(let text): screen.note(text)
            }
        }
    }

    private func enter(_ input: LineScreen.Input, _ console: LineConsole) {
        switch input {
        case .line(let line): console.enter(line)
        case .bytes(let bytes): console.append(bytes)
        case .end:
            screen.lines.stop()
            console.end()
        }
    }

    private static let help = [
        "each line that you type is sent; the arrow keys recall earlier lines",
        "Ctrl-R recalls an earlier line that begins with the typed text",
        ":quit or Ctrl-D ends; Ctrl-C clears the line, or ends if it is empty; :help shows this text",
    ]

    private func show(_ happening: ConsoleHappening) {
        switch happening {
        case .heard(let line): screen.show(line, showsTime: showsTime)
        case .heardBefore(let line): screen.note("received earlier: \(line.marked)")
        case .dangerous(_, let reason): screen.note("not sent: \(reason); 'console --force' sends it anyway")
        case .noDevice(let line): screen.note("not sent: \(line.printable()) (no device)")
        case .notSent(let line, let error): screen.note("not sent: \(line.printable()) (\(error))")
        case .unanswered(let line):
            screen.note(
                "\(behaviour.answers.end == nil ? "no answer" : "no complete answer") to '\(line.printable(limit: 60))'"
            )
        case .lost(let error, let pending):
            screen.note(Self.loss(error, pending, at: endpoint.text))
            screen.note("waiting for the device to come back")
            screen.lines.setPrompt(Self.promptWhileLost)
        case .back(let name):
            screen.lines.setPrompt(Self.prompt)
            let place = name == endpoint.text ? "" : " as \(name)"
            screen.note("\(endpoint.text) is back\(place); the device may have restarted")
        }
    }

    /// Returns the message that the link is lost, with the line whose effect is unknown, if there is one.
    static func loss(_ error: LinkError?, _ pending: [UInt8]?, at name: String) -> String {
        (error.map { "\($0)" } ?? "\(name): the link is closed")
            + (pending.map { "; whether '\($0.printable())' was carried out is unknown" } ?? "")
    }

    /// Shows a note: above the line that is being edited, or on standard error if the input is a script.
    private var note: @Sendable (String) -> Void {
        if isScript { return context.output.note }
        return { [events] text in events.yield(.note(text)) }
    }
}
