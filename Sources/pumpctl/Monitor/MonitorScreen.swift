import LineProtocol

/// Where a monitor shows its updates: a line each, or on a terminal one line that is drawn over.
final class MonitorScreen {
    private let output: Output
    private let isDrawnOver: Bool
    private var lastLine = ""

    init(_ output: Output) {
        self.output = output
        isDrawnOver = !output.isJSON && LineEditor.canMoveCursor
    }

    /// Shows an update. On a terminal, what is more than the present state is left standing above it.
    func show(_ update: MonitorUpdate) {
        guard isDrawnOver else { return output.result(MonitorText.line(update), MonitorRecord(update)) }
        let event = update.event == .status ? "" : fitting(MonitorText.line(update)) + "\n"
        let state = fitting(MonitorText.stateLine(update))
        lastLine = coloured(state, update)
        output.draw("\r\u{1B}[K" + event + lastLine)
    }

    /// Shows what goes over the link, above the present state.
    func note(_ text: String) {
        guard isDrawnOver else { return output.note(text) }
        output.draw("\r\u{1B}[K" + text + "\n" + lastLine)
    }

    /// Leaves what was drawn last standing.
    func end() {
        if isDrawnOver, !lastLine.isEmpty { output.draw("\n") }
    }

    /// The text, cut to the width of the terminal: what is longer can't be drawn over.
    private func fitting(_ text: String) -> String {
        TerminalSize.current.map { text.cut(to: $0.columns - 1) } ?? text
    }

    private func coloured(_ text: String, _ update: MonitorUpdate) -> String {
        guard output.isColoured else { return text }
        let code =
            switch update.state.power {
            case .on: 32
            case .off: 0
            case .error: 31
            case .unknown: 33
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
