internal import CLineEditor
internal import Glibc

/// A line editor on a terminal, with program output above the line.
///
/// The editor never waits: the caller passes in the bytes from the terminal. The terminal is in raw mode from
/// ``start()`` to ``stop()``, which the caller must call.
final class LineEditor {
    /// The effect of a key.
    enum Result {
        /// The line is complete.
        case line(String)
        /// Ctrl-C on an empty line.
        case interrupt
        /// Ctrl-D on an empty line.
        case end
        /// Ctrl-Z.
        case suspend
    }

    private let editor: OpaquePointer
    private let write: (String) -> Void
    private var parser = KeyParser()
    /// The number of characters of the prompt, each of which is one column wide.
    private var promptWidth = 0
    private var isStarted = false

    /// Creates an editor on standard input and standard output; nil if they are not both terminals, if the cursor can't
    /// be moved, or if libedit fails.
    ///
    /// - Parameters:
    ///   - program: The program's name in the user's `~/.editrc`.
    ///   - write: Writes to standard output.
    init?(for program: String, write: @escaping (String) -> Void) {
        guard StandardStream.input.isTerminal, StandardStream.output.canMoveCursor else { return nil }
        Self.chooseCharacterSet()
        guard let editor = clineeditor_open(program, CInt(LineHistory.limit)) else { return nil }
        self.editor = editor
        self.write = write
    }

    deinit { clineeditor_close(editor) }

    /// Adds a line to the history, from which the arrow keys recall it.
    func remember(_ line: String) { Self.withWide(line) { clineeditor_remember(editor, $0) } }

    /// Takes control of the terminal and draws the prompt.
    func start() {
        TerminalSettings.save()
        clineeditor_begin(editor)
        isStarted = true
    }

    /// Restores the terminal, with the cursor below the line.
    func stop() {
        guard isStarted else { return }
        isStarted = false
        moveToEnd()
        write("\n")
        clineeditor_end(editor)
        TerminalSettings.restore(.input)
    }

    /// Suspends this program as Ctrl-Z normally does, until the shell continues it.
    func suspend() {
        let typed = text
        stop()
        kill(0, SIGTSTP)
        start()
        for scalar in typed.unicodeScalars { _ = feed([scalar]) }
    }

    /// Sets the prompt.
    func setPrompt(_ prompt: String) {
        promptWidth = prompt.unicodeScalars.count
        Self.withWide(prompt) { clineeditor_set_prompt(editor, $0) }
        if isStarted { printAbove("") }
    }

    /// Prints lines above the prompt and redraws the unfinished line. While the editor is stopped, just prints the
    /// lines.
    func printAbove(_ text: String) {
        guard isStarted else { return write(text) }
        write("\r" + (cursorRow > 0 ? "\u{1B}[\(cursorRow)A" : "") + "\u{1B}[J" + text)
        clineeditor_redraw(editor)
    }

    /// Redraws the line for the terminal's new size.
    func resize() {
        clineeditor_resize(editor)
        printAbove("")
    }

    /// Processes typed bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes from the terminal.
    ///   - instant: The time at which the bytes arrived.
    /// - Returns: The effects of the keys that the bytes complete; a key that only edits the line has none.
    func take(_ bytes: [UInt8], at instant: ContinuousClock.Instant) -> [Result] {
        parser.keys(bytes, at: instant).compactMap { take($0) }
    }

    private func take(_ key: KeyParser.Key) -> Result? {
        let isEmpty = current.length == 0
        switch key {
        case ["\u{03}"]:
            if isEmpty { return .interrupt }
            moveToEnd()
            write("^C\n")
            restart()
            return nil
        case ["\u{04}"] where isEmpty: return .end
        // Ctrl-R completes the line to an earlier one with the same beginning. On an empty line it would insert any
        // earlier line, and further typing would be appended to that line.
        case ["\u{12}"] where isEmpty: return nil
        case _ where KeyParser.isForeignSequence(key): return nil
        case ["\u{1A}"]: return .suspend
        default: break
        }
        guard feed(key) else { return nil }
        let line = text.dropLast()
        restart()
        return .line(String(line))
    }

    /// Passes a key to libedit. Returns whether the key completed the line.
    private func feed(_ key: KeyParser.Key) -> Bool {
        key.map { wchar_t(bitPattern: $0.value) }.withUnsafeBufferPointer {
            clineeditor_feed(editor, $0.baseAddress, $0.count) == 1
        }
    }

    /// Begins an empty line on the cursor's row of the terminal.
    private func restart() {
        clineeditor_end(editor)
        clineeditor_begin(editor)
    }

    /// Moves the cursor to the end of the line, as Ctrl-E does.
    private func moveToEnd() { _ = feed(["\u{05}"]) }

    // MARK: The edited line

    /// The characters of the line, valid until the next call of libedit, and the index of the cursor.
    private var current: (characters: UnsafePointer<wchar_t>?, length: Int, cursor: Int) {
        var (length, cursor) = (0, 0)
        let characters = clineeditor_line(editor, &length, &cursor)
        return (characters, length, cursor)
    }

    /// The text of the line. A completed line still has its line end.
    private var text: String {
        let line = current
        var text = String.UnicodeScalarView()
        for index in 0..<line.length {
            if let scalar = line.characters.flatMap({ Unicode.Scalar(UInt32(bitPattern: $0[index])) }) {
                text.append(scalar)
            }
        }
        return String(text)
    }

    /// The number of terminal rows from the beginning of the prompt down to the cursor.
    private var cursorRow: Int {
        guard let columns = TerminalSize.current?.columns else { return 0 }
        let line = current
        let width = (0..<line.cursor).reduce(promptWidth) { width, index in
            width + Int(clineeditor_width(line.characters?[index] ?? 0))
        }
        return width / columns
    }

    /// Calls `body` with the text as wide characters, which end with a NUL.
    private static func withWide(_ text: String, _ body: (UnsafePointer<wchar_t>?) -> Void) {
        let characters = text.unicodeScalars.map { wchar_t(bitPattern: $0.value) } + [0]
        characters.withUnsafeBufferPointer { body($0.baseAddress) }
    }

    /// Selects UTF-8, which terminals use even if the environment names no locale.
    private static func chooseCharacterSet() {
        setlocale(LC_CTYPE, "")
        guard let name = nl_langinfo(CInt(CODESET)), String(cString: name) == "UTF-8" else {
            setlocale(LC_CTYPE, "C.UTF-8")
            return
        }
    }
}
