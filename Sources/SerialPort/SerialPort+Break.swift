import Glibc

extension SerialPort {
    /// Begins or ends a break, the level that no character has. How long it lasts is the caller's part.
    ///
    /// A pseudo-terminal accepts this and shows the other end nothing.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/unsupported``, ``SerialError/Code/disconnected`` or
    ///   ``SerialError/Code/closed``.
    public func setBreak(_ on: Bool) throws(SerialError) {
        try perform(on ? "beginning a break on" : "ending a break on") {
            ioctl($0, UInt(on ? TIOCSBRK : TIOCCBRK))
        }
    }
}
