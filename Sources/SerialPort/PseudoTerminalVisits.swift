public import DescriptorIO
internal import Glibc
internal import Synchronization

/// Serves the clients of a pseudo-terminal, visit by visit. A visit begins when a program opens the slave, and ends
/// when no program has the slave open any more. Programs that have the slave open at the same time share one visit.
///
/// The kernel reports both ends of a visit: inotify reports the opening, and a hang-up of the master the last close. So
/// even clients whose processes are not visible in /proc count. The pseudo-terminal must not hold its slave open.
///
/// If a client opens the slave before the last close was noticed, the previous visit goes on, and an unfinished line
/// with it.
///
/// ```swift
/// let terminal = try PseudoTerminal(link: "/tmp/pump", holdsSlaveOpen: false)
/// let visits = try await PseudoTerminalVisits(to: terminal) { channel in
///     Task { while let bytes = try? await channel.read() { … } }
/// }
/// ```
public final class PseudoTerminalVisits: Sendable {
    private let terminal: PseudoTerminal
    private let loop: EventLoop
    private let openings: OpeningWatch
    private let begin: @Sendable (DescriptorChannel) -> Void
    private let state = Mutex(State())

    private struct State {
        /// The ID of the watch of the slave; nil before it begins and after ``PseudoTerminalVisits/close()``.
        var openingsID: UInt64?
        /// Whether a visit has begun and not ended.
        var isVisited = false
        var isClosed = false
    }

    /// Starts serving. If a program has the slave open already, the first visit begins at once.
    ///
    /// - Parameters:
    ///   - terminal: The pseudo-terminal to serve.
    ///   - loop: The loop on which `begin` and the channels run.
    ///   - begin: Called with each visit's channel, on the loop's thread. The channel reports `disconnected` when the
    ///     visit ends; bytes that the clients left unread are then discarded.
    /// - Throws: `system` if inotify is unavailable: openings would go unnoticed.
    /// - Precondition: The pseudo-terminal does not hold its slave open.
    public convenience init(
        to terminal: PseudoTerminal, on loop: EventLoop = .shared,
        begin: @escaping @Sendable (DescriptorChannel) -> Void
    ) async throws(SerialError) {
        try await self.init(to: terminal, by: .shared, on: loop, begin: begin)
    }

    /// Starts serving with a watch other than the shared one.
    ///
    /// - Parameter openings: The watch that reports when the slave is opened.
    package init(
        to terminal: PseudoTerminal, by openings: OpeningWatch, on loop: EventLoop,
        begin: @escaping @Sendable (DescriptorChannel) -> Void
    ) async throws(SerialError) {
        precondition(terminal.heldSlave == nil, "if the slave is held open, departing clients go unnoticed")
        self.terminal = terminal
        self.loop = loop
        self.begin = begin
        self.openings = openings
        // Opens and closes the slave: the master counts as hung up only after the slave was opened once.
        terminal.discardUnread()
        let id = try await openings.begin(terminal.path) { [weak self] in self?.lookSoon() }
        state.withLock { $0.openingsID = id }
        lookSoon()
    }

    deinit {
        if let id = state.withLock(\.openingsID) {
            let openings = openings
            Task { await openings.end(id) }
        }
    }

    /// Begins no further visit. The owner of a running visit's channel must close that channel. Closing twice is
    /// allowed.
    public func close() async {
        let id = state.withLock { state in
            defer { (state.openingsID, state.isClosed) = (nil, true) }
            return state.openingsID
        }
        if let id { await openings.end(id) }
    }

    /// Waits until the bytes that clients have written before the call were read, even if inotify has not reported yet
    /// that a client opened the slave. Gives up after 100 rounds, in case clients write without end, or nobody reads
    /// the channel.
    package func catchUp() async {
        for _ in 0..<100 where hasInput {
            lookSoon()
            await loop.untilIdle()
        }
    }

    /// Whether the master can be read. Asking the kernel also makes it deliver the bytes that are on their way.
    private var hasInput: Bool {
        guard let master = terminal.master.borrow() else { return false }
        defer { terminal.master.giveBack() }
        var poll = pollfd(fd: master, events: CShort(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0 && poll.revents & CShort(POLLIN) != 0
    }

    private func lookSoon() { loop.execute { self.look() } }

    /// Begins a visit if a client has the slave open, or has closed it but left bytes to read.
    private func look() {
        guard let master = terminal.master.borrow() else { return }
        defer { terminal.master.giveBack() }
        var poll = pollfd(fd: master, events: CShort(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, 0) >= 0, poll.revents & CShort(POLLHUP) == 0 || poll.revents & CShort(POLLIN) != 0
        else { return }
        let isNew = state.withLock { state in
            defer { state.isVisited = state.isVisited || !state.isClosed }
            return !state.isVisited && !state.isClosed
        }
        guard isNew else { return }
        begin(
            DescriptorChannel(taking: master, kind: .stream, on: loop) { [weak self, terminal] _ in
                // The master stays open for the next visit; until here the channel kept the terminal alive.
                withExtendedLifetime(terminal) { self?.end() }
            })
    }

    /// Ends the visit after its channel has ended, and looks for the next client.
    private func end() {
        loop.execute { [self] in
            terminal.discardUnread()
            state.withLock { $0.isVisited = false }
            // A client may have opened the slave in the meantime.
            look()
        }
    }
}
