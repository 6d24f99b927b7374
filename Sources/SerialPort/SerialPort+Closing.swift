import Glibc
import Synchronization

extension SerialPort {
    /// What became of the last bytes written.
    public enum CloseOutcome: Sendable, Hashable {
        /// They were sent.
        case drained
        /// Time ran out, and at least so many were thrown away.
        case discarded(Int)
        /// The device was gone already.
        case disconnected
        /// The port was closed before this call.
        case alreadyClosed
    }

    /// Waits until what was written has been sent, as far as the driver can tell.
    ///
    /// A USB adapter's own buffer is not seen by every driver. On a pseudo-terminal this returns at once.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/timedOut`` at the deadline, when all that is unsent stays queued;
    ///   ``SerialError/Code/disconnected``; ``SerialError/Code/closed``, also when the port is closed meanwhile.
    public func drain(deadline: ContinuousClock.Instant) throws(SerialError) {
        let activity = "sending to"
        let descriptor = try borrow(activity)
        defer { shared.giveBack() }
        let drain = drain(of: descriptor, activity) { [shared] in shared.isRetired }
        guard try drain.run(until: deadline) == 0 else {
            throw SerialError(
                .timedOut, activity: activity, path: path,
                hint: "check the flow control: the device does not take what is sent")
        }
    }

    /// Closes the port: waits for what was written to be sent, unlocks, and lets go of the device.
    ///
    /// What has not been sent when the time is over is thrown away, since close(2) itself would wait on for up to 30 s.
    /// The settings stay as they are, as is the custom with serial ports. A second call does nothing; calls on other
    /// threads end with ``SerialError/Code/closed``, and the descriptor is closed when the last of them has ended.
    ///
    /// - Parameter drainTimeout: How long to wait; ``SerialOptions/drainTimeout`` when nil.
    /// - Returns: What became of the last bytes. It is not an error: the port is closed in any case.
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
        // Explicitly, since a child process that inherited the descriptor would keep the lock alive.
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
