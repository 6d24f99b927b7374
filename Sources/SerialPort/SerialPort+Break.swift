import Glibc

extension SerialPort {
    /// Begins or ends a break: a constant level on the line that no character contains. The caller determines its
    /// length.
    ///
    /// A pseudo-terminal accepts the call, but the other end sees no break.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/unsupported``, ``SerialError/Code/disconnected`` or
    ///   ``SerialError/Code/closed``.
    public func setBreak(_ on: Bool) throws(SerialError) {
        try perform(on ? "beginning a break on" : "ending a break on") {
            ioctl($0, UInt(on ? TIOCSBRK : TIOCCBRK))
        }
    }
}
