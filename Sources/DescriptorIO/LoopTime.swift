internal import Glibc

/// A time in nanoseconds since the start of the computer, by the clock of `ContinuousClock`.
struct LoopTime {
    var nanoseconds: Int64

    /// The current time of CLOCK_BOOTTIME, which continues while the computer sleeps.
    static var now: LoopTime {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return LoopTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

extension LoopTime {
    /// Creates the time of an instant, rounded up so that no timer fires early, and limited to 272 years from now.
    init(_ instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: instant).components
        let distance = min(max(seconds, -(1 << 33)), 1 << 33) * 1_000_000_000
        self.init(nanoseconds: LoopTime.now.nanoseconds + distance + attoseconds / 1_000_000_000 + 1)
    }
}
