/// A clock of any kind, which measures the time since this value was created.
package struct SessionClock: Sendable {
    package let elapsed: @Sendable () -> Duration
    /// Sleeps until the time `until`, counted like ``elapsed``; throws if the task is cancelled.
    package let sleep: @Sendable (_ until: Duration) async throws -> Void

    package init(_ clock: some Clock<Duration>) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }
}

extension Duration {
    /// Half of the duration, without the 128-bit division of `/`.
    var half: Duration { Duration(attoseconds: attoseconds >> 1) }
}
