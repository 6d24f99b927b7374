internal import CRecorder

/// How those who record are scheduled: behind all others, since a session goes before what is written of it.
public enum Scheduling {
    /// By nice(2): a tenth of what a session may have.
    private static let niceness: CInt = 10
    /// Since Linux 6.6 a thread that wakes may have to wait until another's slice is over, which takes up to 3 ms unless that
    /// one has asked for a shorter one. This is the shortest that there is.
    private static let sliceNanoseconds: UInt64 = 100_000

    /// The calling thread, and those that it starts from now on, step back behind all others.
    public static func stepBack() { _ = crecorder_schedule(niceness, sliceNanoseconds) }
}
