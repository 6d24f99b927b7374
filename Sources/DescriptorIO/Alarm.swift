/// An action that is due after some time, on the thread of a loop.
///
/// By the loop's own clock it is one of the loop's timers, and costs no task; by another clock a task sleeps for it.
package struct Alarm {
    private enum Bearer {
        case timer(TimerQueue.Token)
        case task(Task<Void, Never>)
    }

    private let loop: EventLoop
    private let bearer: Bearer

    /// Sets an alarm, on the thread of `loop`.
    ///
    /// - Parameter time: How long from now. Zero and less are due in the loop's next turn, behind what else is due there.
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

    /// Takes the alarm back, on the thread of the loop. One that has gone off is no concern.
    package func cancel() {
        switch bearer {
        case .timer(let token): loop.cancel(token)
        case .task(let task): task.cancel()
        }
    }
}
