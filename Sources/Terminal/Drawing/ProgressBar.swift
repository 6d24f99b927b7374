/// Shows on the terminal at standard error how much of something has come, in one line that is drawn over. Elsewhere it shows
/// nothing.
public final class ProgressBar {
    private static let interval = Duration.milliseconds(200)
    private static let width = 24

    private let elapsed: () -> Duration
    private let isShown: Bool
    private var shownAt = Duration.zero
    private var hasShown = false

    /// A bar for what begins to come now.
    ///
    /// - Parameters:
    ///   - clock: Measures how long it takes.
    ///   - isWanted: Whether it is shown on a terminal.
    public init(clock: some Clock<Duration>, isWanted: Bool = true) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        isShown = isWanted && StandardStream.error.isTerminal
    }

    /// So many bytes have come.
    ///
    /// - Parameter total: How many there will be; nil where that is not known.
    public func show(_ count: Int, of total: Int? = nil) {
        let now = elapsed()
        let isAll = total.map { count >= $0 } ?? false
        guard isShown, now - shownAt >= Self.interval || (!hasShown && isAll) else { return }
        shownAt = now
        hasShown = true
        StreamWriter.error.redrawLine(Self.text(count, of: total, in: now, isColoured: StandardStream.mayColour))
    }

    /// Takes the bar off the terminal.
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
