import DeviceKit
import Terminal

/// Where a monitor shows its updates: a line each, or on a terminal one line that is drawn over.
struct MonitorScreen {
    private let output: Output
    /// The present state; nil where nothing is drawn over.
    private let line: LiveLine?

    init(_ output: Output) {
        self.output = output
        line = !output.isJSON && StandardStream.output.canMoveCursor ? LiveLine(write: output.draw) : nil
    }

    /// Shows an update. On a terminal, what is more than the present state is left standing above it.
    func show(_ update: FamilyUpdate) {
        guard let line else { return output.result(MonitorText.line(update), update) }
        let news = if case .status = update.event { String?.none } else { MonitorText.line(update) }
        line.show(MonitorText.stateLine(update), colour: output.isColoured ? colour(update) : nil, below: news)
    }

    /// Shows what goes over the link, above the present state.
    @Sendable func note(_ text: String) { if line?.note(text) != true { output.note(text) } }

    /// Leaves what was drawn last standing: nothing is drawn over any more.
    func end() { line?.end() }

    /// Green for what is on, red for what is wrong, yellow for what is not known.
    private func colour(_ update: FamilyUpdate) -> Int {
        switch update.family.state.first.flatMap({ update.values[$0.key] }) {
        case .text("on"), .boolean(true): 32
        case .text("error"): 31
        case nil: 33
        default: 0
        }
    }
}
