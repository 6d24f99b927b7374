public import DescriptorIO
internal import Glibc

/// A line that a person edits at the bottom of the terminal, with program output above it. If standard input or output
/// is no terminal, the screen passes on the bytes from standard input instead.
///
/// A person edits the line and recalls earlier ones as in a shell. The terminal is in raw mode from ``start(prompt:)``
/// to ``stop()``, which the caller must call.
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
    /// An event at standard input or a change of the terminal's size: see ``LineScreen/take(_:)``.
    public struct Event: Sendable {
        enum Kind: Sendable {
            case read([UInt8])
            case ended
            case resized
        }

        let kind: Kind
    }

    /// A piece of input.
    public enum Input: Sendable, Hashable {
        /// A line that a person typed, without its line end.
        case line([UInt8])
        /// Bytes from a pipe, or from a terminal without line editing.
        case bytes([UInt8])
        /// The end of standard input, a failed read, or Ctrl-D on an empty line.
        case end
    }

    private let editor: LineEditor?
    private let history: LineHistory?
    private let loop: EventLoop
    private let write: (String) -> Void
    private let tell: @Sendable (Event) -> Void
    private var reading: Task<Void, Never>?
    private var resizing: SignalSource?
    /// Whether reading has stopped.
    private var isStopped = false

    /// Creates a screen, which neither changes the terminal nor reads before ``start(prompt:)``.
    ///
    /// - Parameters:
    ///   - program: The program's name in the user's `~/.editrc`.
    ///   - history: The store of lines from earlier runs and of this run's lines; nil for none.
    ///   - loop: The loop that waits for input.
    ///   - write: Writes to standard output.
    ///   - tell: Receives events, on the loop or on the thread that handles SIGWINCH. Pass each to ``take(_:)`` on the
    ///     task that uses this screen.
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

    /// Whether a person can edit lines here.
    public var isEdited: Bool { editor != nil }

    /// Takes control of the terminal and starts reading.
    ///
    /// - Parameter prompt: The text before the edited line.
    public func start(prompt: String) async {
        if let editor {
            resizing = try? SignalSource.open([SIGWINCH]) { [tell] _ in tell(Event(kind: .resized)) }
            history?.load().forEach(editor.remember)
            editor.setPrompt(prompt)
            editor.start()
        }
        read()
    }

    /// Stops reading, and restores the terminal with the cursor below the line. Events already reported can still be
    /// taken.
    public func stop() {
        isStopped = true
        reading?.cancel()
        editor?.stop()
    }

    /// Stops, and releases the signal handler for changes of the terminal's size.
    public func close() async {
        stop()
        resizing?.close()
        resizing = nil
    }

    /// Prints lines, above the prompt and the edited line if there is one.
    public func print(_ text: String) {
        if let editor { editor.printAbove(text + "\n") } else { write(text + "\n") }
    }

    /// Replaces the prompt.
    public func setPrompt(_ prompt: String) { editor?.setPrompt(prompt) }

    /// Processes an event, such as typed keys, and then reads further input. Without this call, no further input is
    /// reported.
    ///
    /// Ctrl-C on an empty line sends SIGINT to this process, and Ctrl-Z sends SIGTSTP to its process group, as on a
    /// terminal in normal mode.
    ///
    /// - Parameter event: An event that this screen reported.
    /// - Returns: The input that the event completes.
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
                // Restore the terminal first, then interrupt the program as Ctrl-C normally does.
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

    /// Waits for the next input. Only one read is pending at a time, so that a pipe is not read ahead.
    private func read() {
        reading = Task(executorPreference: loop) { [tell, loop] in
            do {
                tell(Event(kind: try await StandardInput.read(on: loop).map { .read($0) } ?? .ended))
            } catch {
                // Cancelled: the caller has stopped.
            }
        }
    }
}
