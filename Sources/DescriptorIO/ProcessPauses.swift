internal import CDescriptorIO

/// A count of the pauses in which the process was stopped, as by SIGSTOP. Each SIGCONT counts as the end of a pause.
///
/// A sender may have given up on commands that it sent during a pause: see ``EventLoop/isCatchingUp``.
public enum ProcessPauses {
    /// Starts counting, by a handler for SIGCONT. Earlier pauses are not counted.
    ///
    /// After a pause, the kernel runs the handler on the program's first thread before any other code: a loop on that
    /// thread reads nothing before the pause is counted.
    public static func count() { cdescriptorio_count_continuations() }

    /// The number of pauses so far.
    public static var number: UInt32 { cdescriptorio_continuations() }
}
