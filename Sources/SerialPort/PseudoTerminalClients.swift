internal import CSerial
public import DescriptorIO
internal import Glibc

/// Tells whether any program has the slave of a pseudo-terminal open, as far as /proc shows: of other users' programs only root
/// sees what they have open.
///
/// A pseudo-terminal that holds its own slave open is never told that a client came or went; inotify tells. With it a
/// simulator can behave as a device on a real line: what it says while nobody has the port open is lost, and does not
/// wait to be taken for news by the next client.
public final class PseudoTerminalClients: Sendable {
    private let watch: OpeningWatch
    private let watchID: UInt64

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
        self.watch = watch
        // inotify merges equal events, so they can't be counted: they only say that it is time to look.
        watchID = try await watch.begin(path) { loop.execute(look) }
        // Whoever came before the watch began.
        loop.execute(look)
    }

    deinit {
        let (watch, id) = (watch, watchID)
        Task { await watch.end(id) }
    }

    /// Ends the watch. Closing twice is allowed.
    public func close() async { await watch.end(watchID) }
}
