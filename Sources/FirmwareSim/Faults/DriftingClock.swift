/// A device's clock beside the right one.
struct DriftingClock: Sendable {
    /// How much time goes by on it in a second.
    private var rate = 1.0
    /// An instant by the right clock, and the same by the device's.
    private var base = (outside: Duration.zero, inside: Duration.zero)

    mutating func setRate(_ rate: Double, at instant: Duration) {
        base = (instant, inside(instant))
        self.rate = rate
    }

    /// An instant by the device's clock.
    func inside(_ instant: Duration) -> Duration {
        rate == 1 ? instant - base.outside + base.inside : base.inside + (instant - base.outside) * rate
    }

    /// An instant by the right clock, by which the device's has reached `instant`.
    func outside(_ instant: Duration) -> Duration {
        // Rounded up: who looks then must not come too early.
        rate == 1
            ? instant - base.inside + base.outside
            : base.outside + (instant - base.inside) / rate + .nanoseconds(1)
    }
}
