internal import DescriptorIO

extension DeviceHost {
    /// How long a client may take nothing before an ``advance(by:)`` no longer waits for it.
    private static var patience: Duration { .seconds(2) }
    /// How many activities of the device there are in one go, between which the loop sees to its other work.
    private static var sliceLength: Int { 1000 }

    /// Lets simulated time go by at once, and sends what the device says meanwhile, as fast as its clients take it.
    ///
    /// It waits for clients that read. One that has taken nothing for 2 seconds is not waited for: what it leaves beyond 1 MiB
    /// is lost, and counted in ``lostBytes``. A device with flow control stands still until it reads on, and lives through
    /// the rest of the time then.
    public func advance(by duration: Duration) async {
        var rest = duration
        while rest > .zero {
            let begin = now
            let reached = slice(to: begin + rest)
            rest = begin + rest - reached
            guard rest > .zero else { break }
            // Also where nobody is waited for: writers, the cable and other devices have their turn.
            await yieldToLoop()
            await waitForClients()
        }
        goOn()
    }

    /// Has the device do a part of what it does until `end`.
    ///
    /// - Returns: Up to when time has gone by.
    private func slice(to end: Duration) -> Duration {
        var count = 0
        while !isHeldUp, let next = device.nextActivity, next <= end {
            guard count < Self.sliceLength, !isAwaitingClients else { return now }
            if next > now { skip(next - now) }
            live(to: next)
            count += 1
        }
        if isAwaitingClients { return now }
        if end > now { skip(end - now) }
        if !isHeldUp { live(to: end) }
        return end
    }

    private var isAwaitingClients: Bool {
        lines.values.contains(where: \.isAwaited) || !areListenersStalled && listeners.contains(where: \.isFull)
    }

    // MARK: Waiting

    /// Lets the loop see to its descriptors, and to other tasks.
    private func yieldToLoop() async {
        await withCheckedContinuation { continuation in
            _ = Alarm(after: .zero, on: EventLoopClock(loop), loop: loop) { continuation.resume() }
        }
    }

    /// Waits until clients that read have taken what the device has said, but for some that may wait.
    private func waitForClients() async {
        while isAwaitingClients {
            let (before, turns) = (lines.mapValues(\.taken), listenerTurns)
            if await isWokenInTime() { continue }
            // Who has taken nothing for all that time hangs, or does not read.
            for (id, taken) in before where lines[id]?.isAwaited == true && lines[id]?.taken == taken {
                lines[id]?.isStalled = true
            }
            if listenerTurns == turns { areListenersStalled = true }
        }
    }

    /// Waits until a client takes something or leaves.
    ///
    /// - Returns: Whether one does before patience ends.
    private func isWokenInTime() async -> Bool {
        let id = lastWaiter + 1
        lastWaiter = id
        var clock: any Clock<Duration> = EventLoopClock(loop)
        if case .realTime(let own) = pace { clock = own }
        let alarm = Alarm(after: Self.patience, on: clock, loop: loop) { [weak self] in
            self?.assumeIsolated { $0.waiters.removeValue(forKey: id)?.resume(returning: false) }
        }
        let isInTime = await withCheckedContinuation { waiters[id] = $0 }
        alarm.cancel()
        return isInTime
    }

    func wakeWaiters() {
        let waiters = waiters.values
        self.waiters = [:]
        for waiter in waiters { waiter.resume(returning: true) }
    }
}
