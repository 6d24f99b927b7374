import CSerial
import Glibc

/// A port between open(2) and being ready for use, or abandoned.
struct OpeningPort {
    let path: String
    let descriptor: CInt
    /// Whether TIOCEXCL was set.
    private(set) var isMarkedExclusive = false
    private let isPseudoTerminal: Bool

    /// Opens the node without waiting for a carrier, and without making it the controlling terminal.
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

    /// Locks the port, or finds it busy.
    ///
    /// flock(2) comes first, since TIOCEXCL does nothing against root (graywolf#313). On a pseudo-terminal it comes
    /// alone: a slave's TIOCEXCL outlives its user for as long as the master is open, so that a user who was killed would
    /// leave the device busy for ever, whereas a lock dies with its process.
    mutating func claim(_ exclusivity: SerialOptions.Exclusivity) throws(SerialError) {
        guard flock(descriptor, (exclusivity == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 else {
            let error = errno
            try requireTerminal()
            throw error == EWOULDBLOCK ? busy(errno: error) : SerialError(opening: path, errno: error)
        }
        var isTaken: CInt = 0
        let error = cserial_get_exclusive(descriptor, &isTaken)
        guard error == 0 else { throw notTerminal(errno: error) }
        // On a pseudo-terminal the mark may be left from one who was killed; that one can no longer hold the lock.
        guard isTaken == 0 || isPseudoTerminal else {
            throw busy(errno: EBUSY)
        }
        guard exclusivity == .exclusive, !isPseudoTerminal else { return }
        isMarkedExclusive = ioctl(descriptor, UInt(TIOCEXCL)) == 0
    }

    /// Closes a port that did not become ready. The mark would stay for as long as another program has the port open, and
    /// the lock for as long as a process forked just now has not come to its exec(2).
    func abandon() {
        if isMarkedExclusive { _ = ioctl(descriptor, UInt(TIOCNXCL)) }
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Applies the settings, then the policies, which are carried out as far as the driver can.
    ///
    /// - Returns: `raisedDTR`, whether opening was an edge on DTR: with `HUPCL` set, as it is on a port that was just plugged
    ///   in, the last close left DTR released; without, DTR has stayed asserted since. `echoed`, whether what came in until
    ///   now was sent back.
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
