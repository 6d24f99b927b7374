internal import Synchronization

/// A line on a terminal that is redrawn in place, below lines that stay. All functions may be called on any thread.
///
/// ```swift
/// let line = LiveLine { StreamWriter.output.write($0) }
/// line.show("17 of 40", below: "a page is whole")
/// ```
public final class LiveLine: Sendable {
    private let write: @Sendable (String) -> Void
    /// The text drawn last; nil once the line has ended.
    private let drawn = Mutex<String?>("")

    /// Creates a line that shows nothing yet.
    ///
    /// - Parameter write: Writes to the terminal. Called with a lock held, so it must not use this line.
    public init(write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Replaces the line. Does nothing once the line has ended.
    ///
    /// - Parameters:
    ///   - text: The new text, in parts separated by two blanks. A line that wraps can't be redrawn in place, so the
    ///     last parts of a text that does not leave a column of the terminal free are replaced by an ellipsis.
    ///   - colour: The SGR colour number, such as 32 for green; nil for none.
    ///   - news: Text of any length to leave standing above the line; nil for none.
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

    /// Prints a line that stays above the live line.
    ///
    /// - Returns: false if the live line has ended, in which case nothing is printed.
    public func note(_ text: String) -> Bool {
        drawn.withLock { drawn in
            guard let line = drawn else { return false }
            write("\r\u{1B}[K" + text + "\n" + line)
            return true
        }
    }

    /// Ends the live line; the text drawn last stays on the terminal.
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
