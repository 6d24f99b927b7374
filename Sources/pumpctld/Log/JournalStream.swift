import Glibc

/// Tells whether a stream leads to the journal, as sd_journal_stream_fd(3) makes them.
enum JournalStream {
    /// Whether `descriptor` is the stream that the variable JOURNAL_STREAM names, as device and inode: a stream that was sent
    /// elsewhere has inherited the variable all the same.
    static func isOpen(at descriptor: CInt = STDERR_FILENO, named name: String? = variable) -> Bool {
        let parts = (name ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let device = UInt(parts[0]), let node = UInt(parts[1]) else { return false }
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_dev == device && status.st_ino == node
    }

    private static var variable: String? { getenv("JOURNAL_STREAM").map { String(cString: $0) } }
}
