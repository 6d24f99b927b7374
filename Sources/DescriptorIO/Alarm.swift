/// An action that runs after a delay, on the thread of a loop.
///
/// With an ``EventLoopClock`` of the same loop, the alarm is one of the loop's timers and needs no task. With another
/// clock, such as the manual clock of a test, a task sleeps for the delay.
package struct Alarm {
    private enum Bearer {
        case timer(TimerQueue.Token)
        case task(Task<Void, Never>)
    }

    private let loop: EventLoop
    private let bearer: Bearer

    /// Sets an alarm. Call this on the thread of `loop`.
    ///
    /// - Parameters:
    ///   - time: The delay. With zero or less, the action runs soon, but never before this initializer returns.
    ///   - clock: The clock that measures the delay.
    ///   - loop: The loop on whose thread the action runs.
    ///   - action: The action.
    package init(
        after time: Duration, on clock: some Clock<Duration>, loop: EventLoop, action: @escaping @Sendable () -> Void
    ) {
        self.loop = loop
        if (clock as? EventLoopClock)?.loop === loop {
            bearer = .timer(loop.schedule(at: .now + time, action))
        } else {
            bearer = .task(
                Task(executorPreference: loop) {
                    if time > .zero { try? await clock.sleep(for: time) } else { await Task.yield() }
                    if !Task.isCancelled { loop.execute(action) }
                })
        }
    }

    /// Cancels the alarm. Call this on the thread of the loop. An action that is already due may still run.
    package func cancel() {
        switch bearer {
        case .timer(let token): loop.cancel(token)
        case .task(let task): task.cancel()
        }
    }
}
