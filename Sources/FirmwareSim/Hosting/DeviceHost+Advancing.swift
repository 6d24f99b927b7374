internal import DescriptorIO

extension DeviceHost {
    /// The time without progress after which ``advance(by:)`` stops waiting for a client.
    private static var patience: Duration { .seconds(2) }
    /// The number of device activities in one slice. Between slices the loop does its other work.
    private static var sliceLength: Int { 1000 }

    /// Advances simulated time by `duration` ahead of any clock, and sends the device's output as fast as the clients
    /// take it.
    ///
    /// The call waits for clients that read. It does not wait for a client that has taken nothing for 2 seconds: output
    /// beyond 1 MiB is lost for that client, and counted in ``lostBytes``. A device with flow control stands still
    /// instead until the client reads on, and then runs through the rest of the time.
    public func advance(by duration: Duration) async {
        var rest = duration
        while rest > .zero {
            let begin = now
            let reached = slice(to: begin + rest)
            rest = begin + rest - reached
            guard rest > .zero else { break }
            // Yield even if no client is waited for: writers, the cable and other devices need their turn.
            await yieldToLoop()
            await waitForClients()
        }
        goOn()
    }

    /// Runs the device until `end`, but through at most ``sliceLength`` activities, and only until a client must be
    /// waited for. If flow control holds the device up for a client that is not waited for, time passes without the
    /// device.
    ///
    /// - Returns: The instant that simulated time has reached.
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

    /// Whether ``advance(by:)`` must wait for a client or a listener to take output.
    private var isAwaitingClients: Bool {
        lines.values.contains(where: \.isAwaited) || !areListenersStalled && listeners.contains(where: \.isFull)
    }

    // MARK: Waiting

    /// Lets the loop handle its descriptors and other tasks.
    private func yieldToLoop() async {
        await withCheckedContinuation { continuation in
            _ = Alarm(after: .zero, on: EventLoopClock(loop), loop: loop) { continuation.resume() }
        }
    }

    /// Waits until fewer than ``ClientLine/highWater`` bytes wait for each client and listener that reads.
    private func waitForClients() async {
        while isAwaitingClients {
            let (before, turns) = (lines.mapValues(\.taken), listenerTurns)
            let wereListenersFull = listeners.contains(where: \.isFull)
            if await isWokenInTime() { continue }
            // A client that has taken nothing in all that time hangs, or does not read.
            for (id, taken) in before where lines[id]?.isAwaited == true && lines[id]?.taken == taken {
                lines[id]?.isStalled = true
            }
            if wereListenersFull, listenerTurns == turns { areListenersStalled = true }
        }
    }

    /// Waits until a client or a listener takes something, or a client leaves.
    ///
    /// - Returns: `false` if ``patience`` ended first.
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

    /// Resumes the calls of ``advance(by:)`` that wait.
    func wakeWaiters() {
        let waiters = waiters.values
        self.waiters = [:]
        for waiter in waiters { waiter.resume(returning: true) }
    }
}
