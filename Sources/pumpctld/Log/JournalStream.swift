import Glibc

/// Detects whether a stream leads to the systemd journal, as systemd.exec(5) describes for JOURNAL_STREAM.
enum JournalStream {
    /// Returns whether a descriptor is the stream that the variable JOURNAL_STREAM names by device and inode. The
    /// variable alone proves nothing, since a process inherits it even if its stream is redirected.
    ///
    /// - Parameter name: The value of the variable, such as `8:12345`; nil if the variable is not set.
    static func isOpen(at descriptor: CInt = STDERR_FILENO, named name: String? = variable) -> Bool {
        let parts = (name ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let device = UInt(parts[0]), let node = UInt(parts[1]) else { return false }
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_dev == device && status.st_ino == node
    }

    private static var variable: String? { getenv("JOURNAL_STREAM").map { String(cString: $0) } }
}
