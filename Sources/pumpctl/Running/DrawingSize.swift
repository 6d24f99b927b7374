import Glibc

/// How large something is drawn: as the terminal; elsewhere as the environment's COLUMNS and LINES say.
struct DrawingSize: Equatable {
    /// Beyond, a line is no longer one to look at; and a number may have been made up.
    private static let mostColumns = 1000
    private static let mostRows = 500
    private static let leastColumns = 30

    /// 30 to 1000.
    let columns: Int
    /// 1 to 500; nil where nothing limits the height.
    let rows: Int?

    /// Sets COLUMNS within limits where it, or the terminal, is beyond: ArgumentParser takes it as it is for the width of
    /// help, of which nothing is left in too narrow a terminal.
    static func boundColumns() {
        let leastForHelp = 40
        let columns = number("COLUMNS") ?? TerminalSize.current?.columns ?? leastForHelp
        let bounded = min(max(columns, leastForHelp), mostColumns)
        if columns != bounded { setenv("COLUMNS", "\(bounded)", 1) }
    }

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    /// Of the terminal on standard output; where that is none, of the environment.
    static var current: DrawingSize {
        if let size = TerminalSize.current { return DrawingSize(columns: size.columns, rows: size.rows) }
        return DrawingSize(columns: number("COLUMNS"), rows: number("LINES"))
    }

    /// As large as that, within limits; 80 columns where that is nil or no size.
    init(columns: Int?, rows: Int?) {
        let columns = columns.flatMap { $0 > 0 ? $0 : nil } ?? 80
        self.columns = min(max(columns, Self.leastColumns), Self.mostColumns)
        self.rows = rows.flatMap { $0 > 0 ? min($0, Self.mostRows) : nil }
    }
}
