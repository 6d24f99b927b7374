public import DescriptorIO

/// A table on a terminal that is redrawn in place when it changes.
public actor LiveTable {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The shortest time between two drawings: a table of many devices changes all the time.
    private static let pause = Duration.milliseconds(100)

    private let loop: EventLoop
    private let placeholder: String
    private let write: @Sendable (String) -> Void
    private var table: TextTable
    /// The number of lines of the last drawing that are above the cursor.
    private var drawnLines = 0
    /// The pause after a drawing; nil if a changed table is drawn at once.
    private var pausing: Task<Void, Never>?
    /// Whether the table has changed during the pause, and is drawn at the end of the pause.
    private var isStale = false
    private var hasEnded = false

    /// Creates a table that shows nothing yet.
    ///
    /// - Parameters:
    ///   - placeholder: The text to show while the table has no rows.
    ///   - loop: The loop that the table runs on.
    ///   - write: Writes to the terminal.
    public init(placeholder: String, on loop: EventLoop, write: @escaping @Sendable (String) -> Void) {
        self.loop = loop
        self.placeholder = placeholder
        self.write = write
        table = TextTable([])
    }

    /// Shows `table`, at once or after at most 100 ms. Does nothing after ``end()``.
    public func show(_ table: TextTable) {
        guard !hasEnded else { return }
        self.table = table
        guard pausing == nil else {
            isStale = true
            return
        }
        draw()
        pausing = Task(executorPreference: loop) { [loop] in
            guard (try? await EventLoopClock(loop).sleep(for: Self.pause)) != nil else { return }
            await self.resume()
        }
    }

    private func resume() {
        pausing = nil
        guard isStale else { return }
        isStale = false
        show(table)
    }

    /// Prints a line that stays above the table.
    public func note(_ text: String) {
        write(Self.upwards(drawnLines) + "\u{1B}[J" + text + "\n")
        drawnLines = 0
        draw()
    }

    /// Draws the table a last time, with all rows even if the terminal has fewer. The table stays on the terminal.
    public func end() {
        // A pause that is just over can no longer be cancelled, and would show the table again.
        hasEnded = true
        pausing?.cancel()
        if drawnLines > 0 { draw(isWhole: true) }
        drawnLines = 0
    }

    private func draw(isWhole: Bool = false) {
        let size = TerminalSize.current
        let rows = size?.rows ?? 24
        // Leave the last column free: terminals differ in the position of the cursor after it. Leave the last row free
        // too: each line ends with a line feed, and the cursor stands below the table.
        let lines = Self.lines(
            of: table, or: placeholder, columns: (size?.columns ?? 80) - 1, rows: isWhole ? nil : rows - 1)
        // In a terminal that has become smaller, the top of the last drawing may have scrolled out of reach.
        let up = min(drawnLines, rows - 1)
        let text = lines.map { $0 + "\u{1B}[K\n" }.joined()
        write(Self.upwards(up) + text + "\u{1B}[J")
        drawnLines = lines.count
    }

    /// Returns the control sequence that moves the cursor up by a number of lines, to the beginning of the line.
    private static func upwards(_ lines: Int) -> String { "\r" + (lines > 0 ? "\u{1B}[\(lines)A" : "") }

    /// Returns the lines of the table, or the placeholder if the table has no rows.
    ///
    /// - Parameters:
    ///   - columns: The maximum width of a line.
    ///   - rows: The maximum number of lines to return; nil for any number. If the table has more lines, the last
    ///     returned line states how many are missing.
    static func lines(of table: TextTable, or placeholder: String, columns: Int, rows: Int?) -> [String] {
        guard table.rowCount > 0 else { return [placeholder.cut(to: columns)] }
        let lines = table.lines(width: columns)
        guard let rows, lines.count > rows else { return lines }
        let shown = lines.prefix(max(rows - 1, 0))
        return shown + ["… and \(lines.count - shown.count) more".cut(to: columns)]
    }
}
