internal import Synchronization
public import DescriptorIO
public import Transports

/// Tells what opening a BLE device is at, once it takes long.
///
/// ```swift
/// let watch = OpeningWatch { step in print(step.map { "\($0) …" } ?? "") }
/// defer { watch.end() }
/// let use = BLEUse(profiles: .families, onStep: { watch.begin($0) })
/// ```
public final class OpeningWatch: Sendable {
    private let patience: Duration
    private let clock: any Clock<Duration>
    private let executor: any TaskExecutor
    private let show: @Sendable (BLEOpeningStep?) -> Void
    private let state = Mutex(State())

    private struct State {
        var step: BLEOpeningStep?
        var isShown = false
        var isOver = false
        var waiting: Task<Void, Never>?
    }

    /// A watch over one opening.
    ///
    /// - Parameters:
    ///   - patience: How long after the first step nothing is told.
    ///   - clock: Measures that.
    ///   - executor: What the watch waits on.
    ///   - show: Called with the step that opening is at; with nil once it is over, if a step was told. Must not call the
    ///     watch.
    public init(
        after patience: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock(),
        executor: any TaskExecutor = EventLoop.shared, show: @escaping @Sendable (BLEOpeningStep?) -> Void
    ) {
        self.patience = patience
        self.clock = clock
        self.executor = executor
        self.show = show
    }

    /// Takes in that a step begins.
    public func begin(_ step: BLEOpeningStep) {
        let isShown = state.withLock { state in
            state.step = step
            if state.waiting == nil {
                state.waiting = Task(executorPreference: executor) { [clock, patience] in
                    if (try? await clock.sleep(for: patience)) != nil { self.tell() }
                }
            }
            return state.isShown
        }
        if isShown { tell() }
    }

    /// Under the lock: ending, in another thread, comes before it or behind it.
    private func tell() {
        state.withLock { state in
            guard !state.isOver, let step = state.step else { return }
            state.isShown = true
            show(step)
        }
    }

    /// Takes in that opening is over: no step is told from now on. Ending twice is allowed.
    public func end() {
        let (wasShown, waiting) = state.withLock { state in
            defer { (state.isOver, state.isShown, state.waiting) = (true, false, nil) }
            return (state.isShown, state.waiting)
        }
        waiting?.cancel()
        if wasShown { show(nil) }
    }
}
