import CSerial
import Glibc

/// A port that was opened and is not ready yet: it becomes a ``SerialPort``, or is abandoned.
struct OpeningPort {
    let path: String
    let descriptor: CInt
    /// Whether this process set TIOCEXCL.
    private(set) var isMarkedExclusive = false
    private let isPseudoTerminal: Bool

    /// Opens the node without waiting for a modem's carrier signal (DCD), and without making the port the controlling
    /// terminal.
    init(path: String) throws(SerialError) {
        var descriptor: CInt
        repeat {
            descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw SerialError(opening: path, errno: errno) }
        var isSlave: CInt = 0
        let error = cserial_is_pty_slave(descriptor, &isSlave)
        guard error == 0 else {
            close(descriptor)
            throw SerialError(opening: path, errno: error)
        }
        self.path = path
        self.descriptor = descriptor
        isPseudoTerminal = isSlave != 0
    }

    /// Locks the port. Throws `busy` if another descriptor holds the lock or has set TIOCEXCL, `notATerminal` if the
    /// node is no terminal, or the error of another failed call.
    ///
    /// The flock(2) lock comes first, since TIOCEXCL does not keep root out (graywolf#313). A pseudo-terminal gets only
    /// the lock: TIOCEXCL on a slave lasts until the master is closed, so that a killed client would leave the device
    /// busy for ever. A lock ends with its process.
    mutating func claim(_ exclusivity: SerialOptions.Exclusivity) throws(SerialError) {
        guard flock(descriptor, (exclusivity == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 else {
            let error = errno
            try requireTerminal()
            throw error == EWOULDBLOCK ? busy(errno: error) : SerialError(opening: path, errno: error)
        }
        var isTaken: CInt = 0
        let error = cserial_get_exclusive(descriptor, &isTaken)
        guard error == 0 else { throw notTerminal(errno: error) }
        // On a pseudo-terminal, TIOCEXCL may be left over from a killed process, which no longer holds the lock.
        guard isTaken == 0 || isPseudoTerminal else {
            throw busy(errno: EBUSY)
        }
        guard exclusivity == .exclusive, !isPseudoTerminal else { return }
        isMarkedExclusive = ioctl(descriptor, UInt(TIOCEXCL)) == 0
    }

    /// Closes a port that did not become ready.
    ///
    /// TIOCEXCL would stay set for as long as another program has the port open; the lock would stay until a child that
    /// was just forked calls exec(2). So both are undone first.
    func abandon() {
        if isMarkedExclusive { _ = ioctl(descriptor, UInt(TIOCNXCL)) }
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Applies the settings, then the line policies and the low-latency flag as far as the driver supports them.
    ///
    /// - Returns: `raisedDTR`, whether opening raised DTR, which resets an Arduino. It did if `HUPCL` was set: then the
    ///   last close had released DTR, or this is the first opening since the port was plugged in. Without `HUPCL`, DTR
    ///   had stayed asserted since an earlier opening. `echoed`, whether the terminal echoed the device's output back
    ///   to the device before this call.
    /// - Throws: The errors of ``SerialOptions/write(to:activity:path:)``. A failure to set DTR, RTS or the low-latency
    ///   flag is ignored.
    func configure(_ options: SerialOptions) throws(SerialError) -> (raisedDTR: Bool, echoed: Bool) {
        let before = try options.write(to: descriptor, activity: "opening", path: path)
        var asserted: ModemLines = []
        var released: ModemLines = []
        for (line, policy) in [(ModemLines.dtr, options.dtrOnOpen), (.rts, options.rtsOnOpen)] {
            switch policy {
            case .asserted: asserted.insert(line)
            case .deasserted: released.insert(line)
            case .untouched: break
            }
        }
        if !asserted.isEmpty { _ = asserted.change(UInt(TIOCMBIS), on: descriptor) }
        if !released.isEmpty { _ = released.change(UInt(TIOCMBIC), on: descriptor) }
        if options.lowLatency { _ = cserial_set_low_latency(descriptor, 1) }
        var bits: CInt = 0
        let hasModemLines = ioctl(descriptor, UInt(TIOCMGET), &bits) == 0
        return (raisedDTR: before.hang_up_on_close == 1 && hasModemLines, echoed: before.echo == 1)
    }

    private func busy(errno: Int32) -> SerialError {
        SerialError(.busy(holder: nil), errno: errno, activity: "opening", path: path)
    }

    /// Throws `notATerminal` if the node is no terminal, or the error of another failed call.
    private func requireTerminal() throws(SerialError) {
        var isTaken: CInt = 0
        let error = cserial_get_exclusive(descriptor, &isTaken)
        guard error == 0 else { throw notTerminal(errno: error) }
    }

    private func notTerminal(errno: Int32) -> SerialError {
        errno == ENOTTY
            ? SerialError(
                .notATerminal, errno: errno, activity: "opening", path: path,
                hint: "name a serial port, such as /dev/ttyUSB0")
            : SerialError(opening: path, errno: errno)
    }
}
