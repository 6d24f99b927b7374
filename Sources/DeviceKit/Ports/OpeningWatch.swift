internal import Synchronization
public import DescriptorIO
public import Transports

/// Reports the current step of opening a BLE device, once opening takes long.
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

    /// Creates a watch over one opening.
    ///
    /// - Parameters:
    ///   - patience: The time after the beginning of the first step during which nothing is reported.
    ///   - clock: The clock that measures `patience`.
    ///   - executor: The executor of the watch's timer.
    ///   - show: Called with the current step, by ``begin(_:)`` or on `executor`; called with nil by ``end()``, if a
    ///     step was reported. Must not call the watch.
    public init(
        after patience: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock(),
        executor: any TaskExecutor = EventLoop.shared, show: @escaping @Sendable (BLEOpeningStep?) -> Void
    ) {
        self.patience = patience
        self.clock = clock
        self.executor = executor
        self.show = show
    }

    /// Records that a step begins.
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

    /// Reports the step under the lock, so that ``end()`` on another thread comes either before or after the report.
    private func tell() {
        state.withLock { state in
            guard !state.isOver, let step = state.step else { return }
            state.isShown = true
            show(step)
        }
    }

    /// Records that opening is over: no step is reported from now on. May be called twice.
    public func end() {
        let (wasShown, waiting) = state.withLock { state in
            defer { (state.isOver, state.isShown, state.waiting) = (true, false, nil) }
            return (state.isShown, state.waiting)
        }
        waiting?.cancel()
        if wasShown { show(nil) }
    }
}
