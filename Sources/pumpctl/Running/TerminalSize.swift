import Glibc

/// How much the terminal on standard output shows.
struct TerminalSize: Equatable {
    var columns: Int
    var rows: Int

    /// As it is now; nil where there is no terminal, or it does not tell.
    static var current: TerminalSize? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1, size.ws_row > 1 else { return nil }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
