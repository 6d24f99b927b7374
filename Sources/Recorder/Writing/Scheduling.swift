internal import CRecorder

/// The scheduling of threads that write records, at lower priority than all others: a device's session must not wait
/// for them.
public enum Scheduling {
    /// The nice(2) value: with 10, a thread gets a tenth of the processor time of a thread with the default value.
    private static let niceness: CInt = 10
    /// The requested time slice: the shortest that the kernel allows. Since Linux 6.6 a thread that wakes up may have
    /// to wait for the end of another thread's slice, by default up to 3 ms.
    private static let sliceNanoseconds: UInt64 = 100_000

    /// Lowers the priority of the calling thread and of all threads that it starts later.
    public static func stepBack() { _ = crecorder_schedule(niceness, sliceNanoseconds) }
}
