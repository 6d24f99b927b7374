internal import Glibc

/// How much a terminal shows, or how large something is to be drawn.
public struct TerminalSize: Sendable, Hashable {
    /// Beyond, a line is no longer one to look at; and a number may have been made up.
    private static let mostColumns = 1000
    private static let mostRows = 500
    private static let leastColumns = 30

    /// How many columns there are.
    public var columns: Int
    /// How many rows there are; nil where nothing limits the height.
    public var rows: Int?

    /// A size.
    public init(columns: Int, rows: Int? = nil) {
        self.columns = columns
        self.rows = rows
    }

    /// That of the terminal on standard output now; nil where that is none, or it does not tell.
    public static var current: TerminalSize? { size(on: .output) }

    /// That of the terminal on standard error now; nil where that is none, or it does not tell.
    public static var ofErrors: TerminalSize? { size(on: .error) }

    private static func size(on stream: StandardStream) -> TerminalSize? {
        var size = winsize()
        guard stream.mayBeTerminal, ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1,
            size.ws_row > 1
        else { return nil }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// How large to draw on standard output: as the terminal; elsewhere as the environment's COLUMNS and LINES say, or 80
    /// columns. From 30 to 1000 columns, and at most 500 rows.
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

    /// Sets COLUMNS to 40 to 1000 where it, or the terminal, is beyond: ArgumentParser takes it as it is for the width of
    /// help, of which nothing is left in too narrow a terminal. Call it before another thread is started.
    public static func boundColumnsOfHelp() {
        let leastForHelp = 40
        let columns = number("COLUMNS") ?? current?.columns ?? leastForHelp
        let bounded = min(max(columns, leastForHelp), mostColumns)
        if columns != bounded { setenv("COLUMNS", "\(bounded)", 1) }
    }

    private static func number(_ name: String) -> Int? { StandardStream.variable(name).flatMap { Int($0) } }
}
