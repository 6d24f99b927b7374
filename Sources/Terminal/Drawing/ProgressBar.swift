/// A progress bar in one line that is redrawn in place, on the terminal at standard error. The bar shows nothing if
/// standard error is no terminal.
public final class ProgressBar {
    /// The shortest time between two drawings, and from the creation to the first drawing.
    private static let interval = Duration.milliseconds(200)
    /// The number of characters between the brackets.
    private static let width = 24

    /// Returns the time since the creation.
    private let elapsed: () -> Duration
    private let isShown: Bool
    /// The time of the last drawing, since the creation.
    private var shownAt = Duration.zero
    private var hasShown = false

    /// Creates a bar for a transfer that begins now.
    ///
    /// - Parameters:
    ///   - clock: The clock for the elapsed time.
    ///   - isWanted: Whether to show the bar on a terminal.
    public init(clock: some Clock<Duration>, isWanted: Bool = true) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        isShown = isWanted && StandardStream.error.isTerminal
    }

    /// Shows the progress, at most every 200 ms, and for the first time 200 ms after the creation. A transfer that is
    /// complete before then is shown at once.
    ///
    /// - Parameters:
    ///   - count: The number of bytes received so far.
    ///   - total: The expected number of bytes; nil if unknown. Then only the number of bytes and the rate are shown.
    public func show(_ count: Int, of total: Int? = nil) {
        let now = elapsed()
        let isAll = total.map { count >= $0 } ?? false
        guard isShown, now - shownAt >= Self.interval || (!hasShown && isAll) else { return }
        shownAt = now
        hasShown = true
        StreamWriter.error.redrawLine(Self.text(count, of: total, in: now, isColoured: StandardStream.mayColour))
    }

    /// Removes the bar from the terminal.
    public func clear() { if hasShown { StreamWriter.error.redrawLine("") } }

    static func text(_ count: Int, of total: Int?, in time: Duration, isColoured: Bool) -> String {
        let rate = Double(count) / max(time / .seconds(1), 0.001)
        guard let total else { return "\(count / 1000) kB, \(Int(rate / 1000)) kB/s" }
        let part = total > 0 ? min(1, Double(count) / Double(total)) : 1
        let filled = Int(part * Double(width))
        let bar = String(repeating: "#", count: filled)
        let rest = String(repeating: "-", count: width - filled)
        var text = "[" + (isColoured ? "\u{1B}[32m\(bar)\u{1B}[0m" : bar) + rest + "] \(Int(part * 100)) %"
        text += "  \(count / 1000) of \(total / 1000) kB"
        if count < total, rate > 0 { text += "  \(Int((Double(total - count) / rate).rounded(.up))) s left" }
        return text
    }
}
