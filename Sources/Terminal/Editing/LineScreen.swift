public import DescriptorIO
internal import Glibc

/// Lines that a person types at the bottom of the terminal, with what the program prints above them; or, where standard input
/// or output is no terminal, what a pipe brings.
///
/// A person edits the line, and goes back to earlier ones, as in a shell. The terminal is in raw mode from
/// ``start(prompt:)`` to ``stop()``, which must be called.
///
/// ```swift
/// let (events, continuation) = AsyncStream.makeStream(of: LineScreen.Event.self)
/// let screen = LineScreen(for: "chat", on: loop) { continuation.yield($0) }
/// await screen.start(prompt: "> ")
/// for await event in events {
///     for input in screen.take(event) {
///         switch input {
///         case .line(let line): screen.print("you typed \(line.count) bytes")
///         case .bytes(let bytes): screen.print("the pipe brought \(bytes.count) bytes")
///         case .end: return await screen.close()
///         }
///     }
/// }
/// ```
public final class LineScreen {
    /// What has happened at standard input or to the terminal: see ``LineScreen/take(_:)``.
    public struct Event: Sendable {
        enum Kind: Sendable {
            case read([UInt8])
            case ended
            case resized
        }

        let kind: Kind
    }

    /// What was entered.
    public enum Input: Sendable, Hashable {
        /// A person has typed a line, which stands here without its end.
        case line([UInt8])
        /// These came through a pipe, or from a terminal that can't be edited on.
        case bytes([UInt8])
        /// Standard input is over, or a person has typed Ctrl-D on an empty line.
        case end
    }

    private let editor: LineEditor?
    private let history: LineHistory?
    private let loop: EventLoop
    private let write: (String) -> Void
    private let tell: @Sendable (Event) -> Void
    private var reading: Task<Void, Never>?
    private var resizing: SignalSource?
    /// Whether nothing more is read.
    private var isStopped = false

    /// A screen that leaves the terminal alone, and reads nothing, until ``start(prompt:)``.
    ///
    /// - Parameters:
    ///   - program: The name by which the user's `~/.editrc` knows the program.
    ///   - history: Where the lines of earlier runs are, and where those of this one go; nil to keep none.
    ///   - loop: What waits for input.
    ///   - write: Writes to standard output.
    ///   - tell: Told what happens. It is to be handed to ``take(_:)``, where this screen is used.
    public init(
        for program: String, history: LineHistory? = nil, on loop: EventLoop,
        write: @escaping (String) -> Void = { StreamWriter.output.write($0) },
        tell: @escaping @Sendable (Event) -> Void
    ) {
        editor = LineEditor(for: program, write: write)
        self.history = editor == nil ? nil : history
        self.loop = loop
        self.write = write
        self.tell = tell
    }

    /// Whether a person edits lines here.
    public var isEdited: Bool { editor != nil }

    /// Takes over the terminal and begins to read.
    ///
    /// - Parameter prompt: What stands before the line that is edited.
    public func start(prompt: String) async {
        if let editor {
            resizing = try? SignalSource.open([SIGWINCH]) { [tell] _ in tell(Event(kind: .resized)) }
            history?.load().forEach(editor.remember)
            editor.setPrompt(prompt)
            editor.start()
        }
        read()
    }

    /// Reads no more, and gives the terminal back as it was, the cursor below the line. What was read is still taken.
    public func stop() {
        isStopped = true
        reading?.cancel()
        editor?.stop()
    }

    /// Stops, and lets go of the signal that tells of the terminal's size.
    public func close() async {
        stop()
        resizing?.close()
        resizing = nil
    }

    /// Prints lines: above the prompt and what is being typed, if the terminal is taken over.
    public func print(_ text: String) {
        if let editor { editor.printAbove(text + "\n") } else { write(text + "\n") }
    }

    /// Sets another prompt.
    public func setPrompt(_ prompt: String) { editor?.setPrompt(prompt) }

    /// Attends to an event: carries out what was typed.
    ///
    /// Ctrl-C on an empty line sends this program SIGINT, and Ctrl-Z SIGTSTP, as a terminal does that is not taken over.
    ///
    /// - Returns: What was entered by it.
    public func take(_ event: Event) -> [Input] {
        switch event.kind {
        case .read(let bytes):
            defer { if !isStopped { read() } }
            return editor.map { inputs(bytes, $0) } ?? [.bytes(bytes)]
        case .ended: return [.end]
        case .resized:
            editor?.resize()
            return []
        }
    }

    private func inputs(_ bytes: [UInt8], _ editor: LineEditor) -> [Input] {
        var inputs: [Input] = []
        for result in editor.take(bytes, at: .now) {
            switch result {
            case .line(let line):
                if !line.isEmpty {
                    editor.remember(line)
                    history?.append(line)
                }
                inputs.append(.line(RawByte.bytes(of: line)))
            case .interrupt:
                // As anywhere else: the program is interrupted, once the terminal is as it was.
                editor.stop()
                kill(getpid(), SIGINT)
                return inputs
            case .end:
                isStopped = true
                return inputs + [.end]
            case .suspend: editor.suspend()
            }
        }
        return inputs
    }

    /// Waits for what comes next. There is one such wait at a time, so that a pipe is not read ahead.
    private func read() {
        reading = Task(executorPreference: loop) { [tell, loop] in
            do {
                tell(Event(kind: try await StandardInput.read(on: loop).map { .read($0) } ?? .ended))
            } catch {
                // Cancelled: nobody attends any more.
            }
        }
    }
}
