/// A clock of any kind, read as the time since the session began.
struct SessionClock: Sendable {
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (_ until: Duration) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }
}

extension Duration {
    /// Half of it, without the division of 128 bits that `/` makes.
    var half: Duration { Duration(attoseconds: attoseconds >> 1) }
}
