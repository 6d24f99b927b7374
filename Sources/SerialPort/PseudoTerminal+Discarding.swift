internal import Glibc

extension PseudoTerminal {
    /// Throws away what was written to the client and was not read, as a serial port does when it is closed.
    func discardUnread() {
        guard let master = master.borrow() else { return }
        // Only now: the path is another's once the master is closed.
        defer { self.master.giveBack() }
        // First what is on its way to the slave, which would otherwise take the place of what the slave throws away.
        tcflush(master, TCOFLUSH)
        // Only the slave can throw away what has come to it.
        let slave = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard slave >= 0 else { return }
        tcflush(slave, TCIFLUSH)
        Glibc.close(slave)
    }
}
