public import DescriptorIO
internal import Glibc
internal import Synchronization

/// Serves the users of a pseudo-terminal, visit by visit: one begins when somebody opens the slave, and ends when nobody has it
/// open any more. Programs that have it open at the same time are one visit.
///
/// The kernel itself tells both: inotify that it was opened, and the hang-up of the master that the last one has gone. So
/// users whose processes this one can't see in /proc count as well. The pseudo-terminal must not hold its slave open.
///
/// Who opens it before the last one's hang-up was seen continues that visit, and its half line.
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
        var openingsID: UInt64?
        var isVisited = false
        var isClosed = false
    }

    /// Begins to serve. Who has it open already is the first visit.
    ///
    /// - Parameter begin: Called with each visit's channel, on the loop's thread. The channel is lost when the visit ends; what
    ///   its users left unread is thrown away then.
    /// - Throws: `system` where inotify is not to be had: nothing would be known of the users.
    /// - Precondition: The pseudo-terminal does not hold its slave open.
    public convenience init(
        to terminal: PseudoTerminal, on loop: EventLoop = .shared,
        begin: @escaping @Sendable (DescriptorChannel) -> Void
    ) async throws(SerialError) {
        try await self.init(to: terminal, by: .shared, on: loop, begin: begin)
    }

    /// - Parameter openings: Tells when the slave is opened.
    package init(
        to terminal: PseudoTerminal, by openings: OpeningWatch, on loop: EventLoop,
        begin: @escaping @Sendable (DescriptorChannel) -> Void
    ) async throws(SerialError) {
        precondition(terminal.heldSlave == nil, "who holds the slave open is never told that its users have gone")
        self.terminal = terminal
        self.loop = loop
        self.begin = begin
        self.openings = openings
        // A master is hung up only once somebody has opened the slave.
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

    /// Begins no further visit. The channel of one that goes on is for its owner to close. Closing twice is allowed.
    public func close() async {
        let id = state.withLock { state in
            defer { (state.openingsID, state.isClosed) = (nil, true) }
            return state.openingsID
        }
        if let id { await openings.end(id) }
    }

    private func lookSoon() { loop.execute { self.look() } }

    /// Begins a visit where somebody is there, or has been and has said something.
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
                // The master stays open, for the next visit; until here the channel has kept it open.
                withExtendedLifetime(terminal) { self?.end() }
            })
    }

    private func end() {
        loop.execute { [self] in
            terminal.discardUnread()
            state.withLock { $0.isVisited = false }
            // Somebody may have opened it meanwhile.
            look()
        }
    }
}
