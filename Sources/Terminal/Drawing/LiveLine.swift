internal import Synchronization

/// One line on a terminal that is drawn over, below lines that stay.
///
/// ```swift
/// let line = LiveLine { StreamWriter.output.write($0) }
/// line.show("17 of 40", below: "a page is whole")
/// ```
public final class LiveLine: Sendable {
    private let write: @Sendable (String) -> Void
    /// As it was drawn last; nil once it is left standing.
    private let drawn = Mutex<String?>("")

    /// A line of which nothing is shown yet.
    ///
    /// - Parameter write: Writes to the terminal.
    public init(write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Draws the line over the one before; nothing once it was ended.
    ///
    /// - Parameters:
    ///   - text: What it says, in parts separated by two blanks. What is longer than the terminal is wide can't be drawn over:
    ///     the last parts are left out, and an ellipsis stands for them.
    ///   - colour: By SGR's numbers, 32 for green; nil for none.
    ///   - news: Text that is left standing above it, of any length; nil for none.
    public func show(_ text: String, colour: Int? = nil, below news: String? = nil) {
        drawn.withLock { drawn in
            guard drawn != nil else { return }
            let line = Self.fitting(text)
            let shown = colour.map { "\u{1B}[\($0)m\(line)\u{1B}[0m" } ?? line
            let width = TerminalSize.current?.columns
            let above = news.map { news in (width.map { news.wrapped(to: $0) } ?? news) + "\n" } ?? ""
            write("\r\u{1B}[K" + above + shown)
            drawn = shown
        }
    }

    /// Leaves another line standing above it.
    ///
    /// - Returns: Whether that was done: it is not once the line was ended.
    public func note(_ text: String) -> Bool {
        drawn.withLock { drawn in
            guard let line = drawn else { return false }
            write("\r\u{1B}[K" + text + "\n" + line)
            return true
        }
    }

    /// Leaves what was drawn last standing: nothing is drawn over any more.
    public func end() {
        drawn.withLock { drawn in
            if drawn ?? "" != "" { write("\n") }
            drawn = nil
        }
    }

    private static func fitting(_ text: String) -> String {
        TerminalSize.current.map { text.fitting($0.columns - 1) } ?? text
    }
}
