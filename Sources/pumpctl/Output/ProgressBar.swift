import DescriptorIO
import Glibc

/// Shows on a terminal how much of something has come. Elsewhere, and for programs, it shows nothing.
final class ProgressBar {
    private static let interval = Duration.milliseconds(200)
    private static let width = 24

    private let output: Output
    private let elapsed: () -> Duration
    private let isShown: Bool
    private var shownAt = Duration.zero
    private var hasShown = false

    init(_ context: CommandContext) {
        output = context.output
        let (clock, origin) = (context.clock, context.clock.now)
        elapsed = { origin.duration(to: clock.now) }
        isShown = isatty(STDERR_FILENO) == 1 && !context.output.isJSON
    }

    /// `count` of `total` bytes have come.
    func show(_ count: Int, of total: Int) {
        let now = elapsed()
        guard isShown, now - shownAt >= Self.interval || (!hasShown && count >= total) else { return }
        shownAt = now
        hasShown = true
        output.progress(Self.text(count, of: total, in: now, isColoured: Output.mayColour))
    }

    /// Takes the bar off the terminal.
    func clear() { if hasShown { output.progress("") } }

    static func text(_ count: Int, of total: Int, in time: Duration, isColoured: Bool) -> String {
        let part = total > 0 ? min(1, Double(count) / Double(total)) : 1
        let filled = Int(part * Double(width))
        let bar = String(repeating: "#", count: filled)
        let rest = String(repeating: "-", count: width - filled)
        let rate = Double(count) / max(time / .seconds(1), 0.001)
        var text = "[" + (isColoured ? "\u{1B}[32m\(bar)\u{1B}[0m" : bar) + rest + "] \(Int(part * 100)) %"
        text += "  \(count / 1000) of \(total / 1000) kB"
        if count < total, rate > 0 { text += "  \(Int((Double(total - count) / rate).rounded(.up))) s left" }
        return text
    }
}
