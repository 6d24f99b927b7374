import CSerial
import Glibc

extension SerialPort {
    /// A queue between this program and the device, or both.
    public enum Queue: Sendable, Hashable, CaseIterable {
        /// Received bytes that were not read yet.
        case input
        /// Written bytes that were not sent yet.
        case output
        /// Both queues.
        case both
    }

    /// Discards the bytes in a queue.
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

    /// Returns the number of received bytes that were not read yet.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected`` or ``SerialError/Code/closed``.
    public func queuedInput() throws(SerialError) -> Int {
        var count: CInt = 0
        try perform("counting the input of") { ioctl($0, UInt(FIONREAD), &count) }
        return Int(count)
    }

    /// Returns the number of written bytes that the driver has not sent. Always 0 on a pseudo-terminal, even if the
    /// other end has not read the bytes.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected`` or ``SerialError/Code/closed``.
    public func queuedOutput() throws(SerialError) -> Int {
        var count: CInt = 0
        try perform("counting the output of") { ioctl($0, UInt(TIOCOUTQ), &count) }
        return Int(count)
    }
}

extension SerialPort {
    /// Returns the number of written bytes that have not left the computer, as far as the driver can tell. While only
    /// the transmitter's own buffer has bytes, the result is 1.
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
