import BlueZ
import Glibc
import LineProtocol
import Synchronization
import Transports

/// Shows what opening a BLE device is at: each step with `-v`; on a terminal, from when it takes long, in one line that is
/// drawn over.
final class OpeningProgress: Sendable {
    /// How long nothing is shown on a terminal.
    static let patience = Duration.seconds(1)

    private let endpoint: String
    private let context: CommandContext
    private let note: @Sendable (String) -> Void
    private let isDrawn: Bool
    private let state = Mutex(State())

    private struct State {
        var step: BLEOpeningStep?
        var isShown = false
        var isOver = false
        var waiting: Task<Void, Never>?
    }

    /// - Parameter note: Where `-v` shows the steps.
    init(_ endpoint: Endpoint, _ context: CommandContext, note: @escaping @Sendable (String) -> Void) {
        self.endpoint = endpoint.text.printable()
        self.context = context
        self.note = note
        isDrawn = !context.options.verbose && isatty(STDERR_FILENO) == 1
    }

    /// Takes in that a step begins.
    func begin(_ step: BLEOpeningStep) {
        if context.options.verbose { return note("* \(endpoint): \(step)") }
        guard isDrawn else { return }
        let isShown = state.withLock { state in
            state.step = step
            if state.waiting == nil {
                state.waiting = Task(executorPreference: context.loop) { [context] in
                    if (try? await context.clock.sleep(for: Self.patience)) != nil { self.show() }
                }
            }
            return state.isShown
        }
        if isShown { show() }
    }

    private func show() {
        let step = state.withLock { state -> BLEOpeningStep? in
            guard !state.isOver else { return nil }
            state.isShown = true
            return state.step
        }
        if let step { context.output.progress("\(endpoint): \(step) …") }
    }

    /// Removes what is shown, for good.
    func end() {
        let (wasShown, waiting) = state.withLock { state in
            defer { (state.isOver, state.isShown, state.waiting) = (true, false, nil) }
            return (state.isShown, state.waiting)
        }
        waiting?.cancel()
        if wasShown { context.output.progress("") }
    }
}
