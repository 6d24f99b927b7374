internal import CDescriptorIO

/// How often the process was stopped, as by SIGSTOP, and continued.
///
/// Who sent something meanwhile may have given it up: ``EventLoop/isCatchingUp``.
public enum ProcessPauses {
    /// Begins to count, by a handler for SIGCONT. Until then nothing is known of any.
    ///
    /// The kernel has a program's first thread run the handler before anything else: a loop on that thread reads nothing in
    /// between.
    public static func count() { cdescriptorio_count_continuations() }

    /// How many there were.
    public static var number: UInt32 { cdescriptorio_continuations() }
}
