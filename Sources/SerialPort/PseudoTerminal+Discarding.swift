internal import Glibc

extension PseudoTerminal {
    /// Discards the bytes that were written to the master and that no client has read, as closing a serial port does.
    func discardUnread() {
        guard let master = master.borrow() else { return }
        // Give the master back only at the end: once it is closed, the path may lead to another program's terminal.
        defer { self.master.giveBack() }
        // First flush the bytes in transit, which would otherwise refill the slave's queue.
        tcflush(master, TCOFLUSH)
        // Bytes in the slave's input queue can only be flushed through the slave.
        let slave = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard slave >= 0 else { return }
        tcflush(slave, TCIFLUSH)
        Glibc.close(slave)
    }
}
