import DeviceKit
import Synchronization
import Terminal

/// Where a monitor shows its updates: a line each, or on a terminal one line that is drawn over.
final class MonitorScreen: Sendable {
    private let output: Output
    /// The present state, as it was drawn last; nil where nothing is drawn over.
    private let drawn: Mutex<String?>

    init(_ output: Output) {
        self.output = output
        drawn = Mutex(!output.isJSON && StandardStream.output.canMoveCursor ? "" : nil)
    }

    /// Shows an update. On a terminal, what is more than the present state is left standing above it.
    func show(_ update: FamilyUpdate) {
        drawn.withLock { drawn in
            guard drawn != nil else { return output.result(MonitorText.line(update), ResultRecord(update)) }
            let event = if case .status = update.event { "" } else { fitting(MonitorText.line(update)) + "\n" }
            let state = coloured(fitting(MonitorText.stateLine(update)), update)
            output.draw("\r\u{1B}[K" + event + state)
            drawn = state
        }
    }

    /// Shows what goes over the link, above the present state.
    func note(_ text: String) {
        drawn.withLock { drawn in
            if let drawn { output.draw("\r\u{1B}[K" + text + "\n" + drawn) } else { output.note(text) }
        }
    }

    /// Leaves what was drawn last standing: nothing is drawn over any more.
    func end() {
        drawn.withLock { drawn in
            if drawn ?? "" != "" { output.draw("\n") }
            drawn = nil
        }
    }

    /// The text, cut to the width of the terminal: what is longer can't be drawn over.
    private func fitting(_ text: String) -> String {
        TerminalSize.current.map { text.cut(to: $0.columns - 1) } ?? text
    }

    /// Green for what is on, red for what is wrong, yellow for what is not known.
    private func coloured(_ text: String, _ update: FamilyUpdate) -> String {
        guard output.isColoured else { return text }
        let code =
            switch update.family.state.first.flatMap({ update.values[$0.key] }) {
            case .text("on"), .boolean(true): 32
            case .text("error"): 31
            case nil: 33
            default: 0
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
