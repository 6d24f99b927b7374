internal import Glibc

/// The size of a terminal or of a drawing.
public struct TerminalSize: Sendable, Hashable {
    /// The maximum width: nobody reads longer lines, and a larger number in COLUMNS may be nonsense.
    private static let mostColumns = 1000
    /// The maximum height of a drawing; chosen, not measured.
    private static let mostRows = 500
    /// The minimum width of a drawing; chosen, not measured.
    private static let leastColumns = 30

    /// The number of columns.
    public var columns: Int
    /// The number of rows; nil if the height is unlimited.
    public var rows: Int?

    /// Creates a size.
    ///
    /// - Parameters:
    ///   - columns: The number of columns.
    ///   - rows: The number of rows; nil if the height is unlimited.
    public init(columns: Int, rows: Int? = nil) {
        self.columns = columns
        self.rows = rows
    }

    /// The present size of the terminal on standard output; nil if there is no terminal, or its size is unknown.
    public static var current: TerminalSize? { size(on: .output) }

    /// The present size of the terminal on standard error; nil if there is no terminal, or its size is unknown.
    public static var ofErrors: TerminalSize? { size(on: .error) }

    private static func size(on stream: StandardStream) -> TerminalSize? {
        var size = winsize()
        // A size of one column or row counts as unknown, as 0 does.
        guard stream.mayBeTerminal, ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1,
            size.ws_row > 1
        else { return nil }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// The size for drawings on standard output: the terminal's size, or else COLUMNS and LINES from the environment,
    /// or else 80 columns. Limited to 30 to 1000 columns and at most 500 rows.
    public static var forDrawing: TerminalSize {
        if let current { return bounded(columns: current.columns, rows: current.rows) }
        return bounded(columns: number("COLUMNS"), rows: number("LINES"))
    }

    static func bounded(columns: Int?, rows: Int?) -> TerminalSize {
        let columns = columns.flatMap { $0 > 0 ? $0 : nil } ?? 80
        return TerminalSize(
            columns: min(max(columns, leastColumns), mostColumns),
            rows: rows.flatMap { $0 > 0 ? min($0, mostRows) : nil })
    }

    /// Sets COLUMNS to 40 or 1000 if COLUMNS, or else the terminal's width, is below or above this range.
    /// ArgumentParser uses the value unchecked for the width of help, which is empty in too narrow a terminal.
    ///
    /// Call this before starting another thread, since setenv(3) is not thread-safe.
    public static func boundColumnsOfHelp() {
        let leastForHelp = 40
        let columns = number("COLUMNS") ?? current?.columns ?? leastForHelp
        let bounded = min(max(columns, leastForHelp), mostColumns)
        if columns != bounded { setenv("COLUMNS", "\(bounded)", 1) }
    }

    private static func number(_ name: String) -> Int? { StandardStream.variable(name).flatMap { Int($0) } }
}
