import Glibc

extension SerialPort {
    /// Begins or ends a break: a constant level on the line for longer than a character lasts. The caller determines
    /// the length of the break.
    ///
    /// A pseudo-terminal accepts the call, but the other end sees no break.
    ///
    /// - Throws: ``SerialError``, for example with ``SerialError/Code/unsupported``, ``SerialError/Code/disconnected``
    ///   or ``SerialError/Code/closed``.
    public func setBreak(_ on: Bool) throws(SerialError) {
        try perform(on ? "beginning a break on" : "ending a break on") {
            ioctl($0, UInt(on ? TIOCSBRK : TIOCCBRK))
        }
    }
}
