import Glibc
import Synchronization

extension SerialPort {
    /// The fate of the bytes that were written last.
    public enum CloseOutcome: Sendable, Hashable {
        /// All bytes were sent, as far as the driver can tell.
        case drained
        /// Time ran out while this number of bytes was unsent, as far as the driver can tell. They were discarded.
        case discarded(Int)
        /// The device was disconnected before or during the closing.
        case disconnected
        /// The port was already closed.
        case alreadyClosed
    }

    /// Waits until all written bytes have been sent, as far as the driver can tell.
    ///
    /// Not every driver sees the buffer of a USB adapter. On a pseudo-terminal this function returns at once.
    ///
    /// - Parameter deadline: The time at which to give up.
    /// - Throws: ``SerialError`` with ``SerialError/Code/timedOut`` at the deadline, with the unsent bytes still
    ///   queued; ``SerialError/Code/disconnected``; ``SerialError/Code/closed``, also if the port is closed during the
    ///   wait.
    public func drain(deadline: ContinuousClock.Instant) throws(SerialError) {
        let activity = "sending to"
        let descriptor = try borrow(activity)
        defer { shared.giveBack() }
        let drain = drain(of: descriptor, activity) { [shared] in shared.isRetired }
        guard try drain.run(until: deadline) == 0 else {
            throw SerialError(
                .timedOut, activity: activity, path: path,
                hint: "check the flow control: the device does not accept the data")
        }
    }

    /// Closes the port: waits for written bytes to be sent, unlocks the port, and closes the descriptor.
    ///
    /// Bytes still unsent when the time is over are discarded, since close(2) itself would wait for up to 30 s more.
    /// The line settings stay in force, as is usual for serial ports. A second call does nothing. Later calls of other
    /// functions, and a ``drain(deadline:)`` on another thread, throw ``SerialError/Code/closed``; the descriptor is
    /// closed when the last call that uses it has ended.
    ///
    /// - Parameter drainTimeout: The longest time to wait; ``SerialOptions/drainTimeout`` if nil.
    /// - Returns: The fate of the last bytes. None of the outcomes is an error: the port is closed in any case.
    @discardableResult
    public func close(drainTimeout: Duration? = nil) -> CloseOutcome {
        guard let descriptor = shared.retire() else { return .alreadyClosed }
        defer { shared.giveBack() }
        let activity = "closing"
        let deadline = ContinuousClock.now + (drainTimeout ?? options.withLock { $0.drainTimeout })
        let outcome: CloseOutcome
        do {
            let unsent = try drain(of: descriptor, activity) { false }.run(until: deadline)
            if unsent > 0 { tcflush(descriptor, TCOFLUSH) }
            outcome = unsent > 0 ? .discarded(unsent) : .drained
        } catch {
            outcome = .disconnected
        }
        if isMarkedExclusive { _ = ioctl(descriptor, UInt(TIOCNXCL)) }
        // Unlock explicitly, since a child that was just forked would keep the lock until it calls exec(2).
        flock(descriptor, LOCK_UN)
        return outcome
    }

    private func drain(
        of descriptor: CInt, _ activity: String, isClosed: @escaping () -> Bool
    ) -> OutputDrain {
        let path = path
        return OutputDrain(
            unsentBytes: { () throws(SerialError) in
                if isClosed() { throw SerialError(.closed, activity: activity, path: path) }
                return try SerialPort.unsentBytes(descriptor, activity: activity, path: path)
            },
            wait: { (milliseconds) throws(SerialError) in
                if isHungUp(descriptor, within: milliseconds) {
                    throw SerialError(errno: EIO, activity: activity, path: path)
                }
            })
    }
}
