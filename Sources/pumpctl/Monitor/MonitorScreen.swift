import DeviceKit
import Terminal

/// Shows the updates of a monitor: one line each, or on a terminal a single line that is redrawn.
struct MonitorScreen {
    private let output: Output
    /// The redrawn line with the current state; nil if the output is JSON, or goes to no terminal whose cursor can be
    /// moved.
    private let line: LiveLine?

    init(_ output: Output) {
        self.output = output
        line = !output.isJSON && StandardStream.output.canMoveCursor ? LiveLine(write: output.draw) : nil
    }

    /// Shows an update. On a terminal, an event stays visible above the redrawn line.
    func show(_ update: FamilyUpdate) {
        guard let line else { return output.result(MonitorText.line(update), update) }
        let news = if case .status = update.event { String?.none } else { MonitorText.line(update) }
        line.show(MonitorText.stateLine(update), colour: output.isColoured ? colour(update) : nil, below: news)
    }

    /// Shows a note: above the redrawn line if there is one, otherwise on standard error.
    @Sendable func note(_ text: String) { if line?.note(text) != true { output.note(text) } }

    /// Stops redrawing. The last state stays visible.
    func end() { line?.end() }

    /// Returns the ANSI colour of the state: green for on, red for an error, yellow for unknown, 0 for any other.
    private func colour(_ update: FamilyUpdate) -> Int {
        switch update.family.state.first.flatMap({ update.values[$0.key] }) {
        case .text("on"), .boolean(true): 32
        case .text("error"): 31
        case nil: 33
        default: 0
        }
    }
}
