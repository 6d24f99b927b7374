internal import Glibc

/// A moment in nanoseconds of the clock that `ContinuousClock` reads, which the loop looks at each time it waits.
struct LoopTime {
    var nanoseconds: Int64

    /// The time by CLOCK_BOOTTIME, which goes on while the computer sleeps.
    static var now: LoopTime {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return LoopTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

extension LoopTime {
    /// The same moment or the first nanosecond behind it, and no more than 272 years away.
    init(_ instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: instant).components
        let distance = min(max(seconds, -(1 << 33)), 1 << 33) * 1_000_000_000
        self.init(nanoseconds: LoopTime.now.nanoseconds + distance + attoseconds / 1_000_000_000 + 1)
    }
}
