internal import Glibc

/// The time of a record: milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct RecordTime: Sendable, Hashable, Comparable {
    /// The milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// Creates a time from milliseconds since 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The current time of the system's clock.
    public static var now: RecordTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return RecordTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public static func < (left: RecordTime, right: RecordTime) -> Bool { left.milliseconds < right.milliseconds }
}
