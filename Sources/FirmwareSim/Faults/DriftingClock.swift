/// A device's clock, which may run slower or faster than simulated time.
struct DriftingClock: Sendable {
    /// The seconds that pass on the device's clock in one second of simulated time.
    private var rate = 1.0
    /// The instant at which the rate last changed: in simulated time, and by the device's clock.
    private var base = (outside: Duration.zero, inside: Duration.zero)

    mutating func setRate(_ rate: Double, at instant: Duration) {
        base = (instant, inside(instant))
        self.rate = rate
    }

    /// Converts an instant of simulated time to the device's clock.
    func inside(_ instant: Duration) -> Duration {
        rate == 1 ? instant - base.outside + base.inside : base.inside + (instant - base.outside) * rate
    }

    /// Returns an instant of simulated time by which the device's clock has reached `instant`.
    func outside(_ instant: Duration) -> Duration {
        // Round up: a caller that advances to this instant must not come too early.
        rate == 1
            ? instant - base.inside + base.outside
            : base.outside + (instant - base.inside) / rate + .nanoseconds(1)
    }
}
