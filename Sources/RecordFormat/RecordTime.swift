internal import Glibc

/// When something was recorded: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
public struct RecordTime: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// A time so many milliseconds after 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The present, by the system's clock.
    public static var now: RecordTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return RecordTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public static func < (left: RecordTime, right: RecordTime) -> Bool { left.milliseconds < right.milliseconds }
}
