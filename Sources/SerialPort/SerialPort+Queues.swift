import CSerial
import Glibc

extension SerialPort {
    /// A queue between this program and the device, or both.
    public enum Queue: Sendable, Hashable, CaseIterable {
        /// What came and was not read.
        case input
        /// What was written and not sent.
        case output
        /// Both.
        case both
    }

    /// Throws away what waits in a queue.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected`` or ``SerialError/Code/closed``.
    public func flush(_ queue: Queue) throws(SerialError) {
        let selector =
            switch queue {
            case .input: TCIFLUSH
            case .output: TCOFLUSH
            case .both: TCIOFLUSH
            }
        try perform("flushing") { tcflush($0, selector) }
    }

    /// The number of bytes that came and were not read.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected`` or ``SerialError/Code/closed``.
    public func queuedInput() throws(SerialError) -> Int {
        var count: CInt = 0
        try perform("counting the input of") { ioctl($0, UInt(FIONREAD), &count) }
        return Int(count)
    }

    /// The number of bytes that were written and that the driver has not sent. On a pseudo-terminal it is always 0,
    /// whether or not the other end has read them.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected`` or ``SerialError/Code/closed``.
    public func queuedOutput() throws(SerialError) -> Int {
        var count: CInt = 0
        try perform("counting the output of") { ioctl($0, UInt(TIOCOUTQ), &count) }
        return Int(count)
    }
}

extension SerialPort {
    /// The number of bytes that have not left the computer, at least 1 while the transmitter itself is busy (where the
    /// driver can tell).
    static func unsentBytes(_ descriptor: CInt, activity: String, path: String) throws(SerialError) -> Int {
        var count: CInt = 0
        guard ioctl(descriptor, UInt(TIOCOUTQ), &count) >= 0 else {
            throw SerialError(errno: errno, activity: activity, path: path)
        }
        if count > 0 { return Int(count) }
        var isEmpty: CInt = 1
        return cserial_get_transmitter_empty(descriptor, &isEmpty) == 0 && isEmpty == 0 ? 1 : 0
    }
}
