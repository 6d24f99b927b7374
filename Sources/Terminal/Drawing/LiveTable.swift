public import DescriptorIO

/// A table on a terminal that is drawn over when something in it is new.
public actor LiveTable {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The least time from one drawing to the next: among many devices there is something new all the time.
    private static let pause = Duration.milliseconds(100)

    private let loop: EventLoop
    private let placeholder: String
    private let write: @Sendable (String) -> Void
    private var table: TextTable
    /// How many lines of the last drawing are above the cursor.
    private var drawnLines = 0
    private var pausing: Task<Void, Never>?
    private var isStale = false

    /// A table on standard output, of which nothing is shown yet.
    ///
    /// - Parameters:
    ///   - placeholder: What stands there while the table has no rows.
    ///   - write: Writes to the terminal.
    public init(placeholder: String, on loop: EventLoop, write: @escaping @Sendable (String) -> Void) {
        self.loop = loop
        self.placeholder = placeholder
        self.write = write
        table = TextTable([])
    }

    /// Shows `table`, soon.
    public func show(_ table: TextTable) {
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

    /// Leaves a line standing above the table.
    public func note(_ text: String) {
        write(Self.upwards(drawnLines) + "\u{1B}[J" + text + "\n")
        drawnLines = 0
        draw()
    }

    /// Draws all of it a last time and leaves it standing.
    public func end() {
        pausing?.cancel()
        if drawnLines > 0 { draw(isWhole: true) }
        drawnLines = 0
    }

    private func draw(isWhole: Bool = false) {
        let size = TerminalSize.current
        let rows = size?.rows ?? 24
        // The last column is left free: terminals differ in where the cursor is behind it.
        let lines = Self.lines(
            of: table, or: placeholder, columns: (size?.columns ?? 80) - 1, rows: isWhole ? nil : rows - 1)
        // What was drawn last is above the cursor, unless the terminal has become smaller since.
        let up = min(drawnLines, rows - 1)
        let text = lines.map { $0 + "\u{1B}[K\n" }.joined()
        write(Self.upwards(up) + text + "\u{1B}[J")
        drawnLines = lines.count
    }

    /// To the beginning of a line above.
    private static func upwards(_ lines: Int) -> String { "\r" + (lines > 0 ? "\u{1B}[\(lines)A" : "") }

    /// - Parameter rows: How many lines there may be; nil for any number.
    static func lines(of table: TextTable, or placeholder: String, columns: Int, rows: Int?) -> [String] {
        guard table.rowCount > 0 else { return [placeholder.cut(to: columns)] }
        let lines = table.lines(width: columns)
        guard let rows, lines.count > rows else { return lines }
        let shown = lines.prefix(max(rows - 1, 0))
        return shown + ["… and \(lines.count - shown.count) more".cut(to: columns)]
    }
}
