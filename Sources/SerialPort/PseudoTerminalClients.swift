internal import CSerial
public import DescriptorIO
internal import Glibc

/// Tells whether any program has the slave of a pseudo-terminal open.
///
/// A pseudo-terminal that holds its own slave open is never told that a client came or went; inotify tells. With it a
/// simulator can behave as a device on a real line: what it says while nobody has the port open is lost, and does not
/// wait to be taken for news by the next client.
public final class PseudoTerminalClients: Sendable {
    private let watch: OpeningWatch
    private let watchID: UInt64
    private let path: String
    private let loop: EventLoop
    private let lookNow: @Sendable () -> Void

    /// Begins to watch.
    ///
    /// - Parameter onChange: Told whether there are clients once at first and each time one comes or goes, on the loop's
    ///   thread.
    /// - Throws: `system` where inotify is not to be had: nothing would be known of the clients.
    public convenience init(
        of terminal: PseudoTerminal, on loop: EventLoop = .shared, onChange: @escaping @Sendable (Bool) -> Void
    ) async throws(SerialError) {
        try await self.init(of: terminal, by: .shared, on: loop, onChange: onChange)
    }

    /// - Parameter watch: Tells when the terminal is opened or closed.
    package init(
        of terminal: PseudoTerminal, by watch: OpeningWatch, on loop: EventLoop = .shared,
        onChange: @escaping @Sendable (Bool) -> Void
    ) async throws(SerialError) {
        let (path, ours) = (terminal.path, terminal.heldSlave == nil ? 0 : 1)
        let look: @Sendable () -> Void = {
            let descriptors = PortHolder.all(of: path).reduce(0) { $0 + $1.descriptorCount }
            onChange(descriptors > ours)
        }
        (self.watch, self.path, self.loop, lookNow) = (watch, path, loop, look)
        // inotify merges equal events, so they can't be counted: they only say that it is time to look.
        watchID = try await watch.begin(path) { loop.execute(look) }
        // Whoever came before the watch began.
        loop.execute(look)
    }

    deinit {
        let (watch, id) = (watch, watchID)
        Task { await watch.end(id) }
    }

    /// Looks once more, soon.
    public func look() { loop.execute(lookNow) }

    /// Whether it sees all programs that may have the slave open: those of other users only root sees.
    public var seesEverybody: Bool {
        var status = stat()
        guard geteuid() != 0, stat(path, &status) == 0 else { return true }
        return status.st_mode & 0o060 != 0o060 && status.st_mode & 0o006 != 0o006
    }

    /// Ends the watch. Closing twice is allowed.
    public func close() async { await watch.end(watchID) }
}

extension PseudoTerminal {
    /// Throws away what was written to the client and was not read, as a serial port does when it is closed.
    public func discardUnread() {
        // First what is on its way to the slave, which would otherwise take the place of what the slave throws away.
        if let master = master.borrow() {
            tcflush(master, TCOFLUSH)
            self.master.giveBack()
        }
        guard let slave = heldSlave?.borrow() else { return }
        tcflush(slave, TCIFLUSH)
        heldSlave?.giveBack()
    }
}
