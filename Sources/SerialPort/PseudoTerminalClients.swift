internal import CSerial
public import DescriptorIO
internal import Glibc

/// Tells whether any program has the slave of a pseudo-terminal open.
///
/// A pseudo-terminal that holds its own slave open is never told that a client came or went; inotify tells. With it a
/// simulator can behave as a device on a real line: what it says while nobody has the port open is lost, and does not
/// wait to be taken for news by the next client.
public final class PseudoTerminalClients: Sendable {
    private let events: DescriptorChannel

    /// Begins to watch.
    ///
    /// - Parameter onChange: Told whether there are clients once at first and each time one comes or goes, on the loop's
    ///   thread.
    /// - Returns: nil where inotify is not to be had; nothing is known of the clients then.
    public init?(
        of terminal: PseudoTerminal, on loop: EventLoop = .shared, onChange: @escaping @Sendable (Bool) -> Void
    ) async {
        let descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        guard inotify_add_watch(descriptor, terminal.path, UInt32(IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)) >= 0
        else {
            Glibc.close(descriptor)
            return nil
        }
        events = DescriptorChannel(taking: descriptor, kind: .stream, on: loop)
        let (path, ours) = (terminal.path, terminal.heldSlave == nil ? 0 : 1)
        let look: @Sendable () -> Void = {
            let descriptors = PortHolder.all(of: path).reduce(0) { $0 + $1.descriptorCount }
            onChange(descriptors > ours)
        }
        await events.forward { arrival in
            guard case .bytes = arrival else { return }
            // inotify merges equal events, so they can't be counted: they only say that it is time to look.
            look()
        }
        // Whoever came before the watch began.
        loop.execute(look)
    }

    /// Ends the watch.
    public func close() async { await events.close() }
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
