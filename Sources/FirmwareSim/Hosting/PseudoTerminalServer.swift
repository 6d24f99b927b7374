public import DescriptorIO
public import SerialPort
internal import Synchronization

/// Offers a simulated device on a pseudo-terminal, as a serial port for other programs.
///
/// Output is lost while no program has the terminal open, as on a real line. If a fault pulls the cable, the device
/// comes back on another pseudo-terminal. The symbolic link, if there is one, then leads to that pseudo-terminal.
public actor PseudoTerminalServer<Device: SimulatedDevice> {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The path that clients open: the path of the link, if there is a link. Without a link, the path changes after a
    /// fault has pulled the cable.
    public nonisolated var path: String { terminal.withLock { $0.linkPath ?? $0.path } }

    private nonisolated let loop: EventLoop
    private nonisolated let terminal: Mutex<PseudoTerminal>
    private let link: String?
    private let watch: OpeningWatch
    private let onReturn: (@Sendable (String) -> Void)?
    private let onFailure: (@Sendable (SerialError) -> Void)?
    /// The visits to the terminal, each from the first opening by a program to the last close; nil while the cable is
    /// pulled.
    private var visits: PseudoTerminalVisits?
    /// The channel of the current visit, or of the last one.
    private var channel: DescriptorChannel?
    /// The pseudo-terminal on which the device will come back, while its cable is pulled.
    private var next: PseudoTerminal?
    /// Pulls the cable or plugs it in, after earlier changes have ended.
    private var changing: Task<Void, Never>?
    private var isClosed = false

    /// Creates a pseudo-terminal and connects it to `host`.
    ///
    /// - Parameters:
    ///   - host: The host of the device.
    ///   - link: The path of a symbolic link to the terminal; ``close()`` removes it.
    ///   - loop: The event loop of the terminal, on which the host runs too.
    ///   - onReturn: Called with the path when the device is back after its cable was pulled, on the loop's thread.
    ///   - onFailure: Called with the error if the device can't come back, for example because something else has the
    ///     link's place, on the loop's thread. The server tries again when a fault pulls the cable again.
    /// - Throws: `SerialError`, also if the system can't report openings of the terminal: the server would not know
    ///   whether a client listens.
    public static func open(
        _ host: DeviceHost<Device>, link: String? = nil, on loop: EventLoop = .shared,
        onReturn: (@Sendable (String) -> Void)? = nil, onFailure: (@Sendable (SerialError) -> Void)? = nil
    ) async throws(SerialError) -> PseudoTerminalServer {
        try await open(host, link: link, watch: .shared, on: loop, onReturn: onReturn, onFailure: onFailure)
    }

    /// Creates a pseudo-terminal as the public function does.
    ///
    /// - Parameter watch: Reports when the terminal is opened or closed.
    package static func open(
        _ host: DeviceHost<Device>, link: String? = nil, watch: OpeningWatch, on loop: EventLoop = .shared,
        onReturn: (@Sendable (String) -> Void)? = nil, onFailure: (@Sendable (SerialError) -> Void)? = nil
    ) async throws(SerialError) -> PseudoTerminalServer {
        let terminal = try PseudoTerminal(link: link, holdsSlaveOpen: false)
        let server = PseudoTerminalServer(terminal, link: link, watch: watch, on: loop, onReturn, onFailure)
        do throws(SerialError) { try await server.serve(host) } catch {
            await server.close()
            throw error
        }
        return server
    }

    private init(
        _ terminal: PseudoTerminal, link: String?, watch: OpeningWatch, on loop: EventLoop,
        _ onReturn: (@Sendable (String) -> Void)?, _ onFailure: (@Sendable (SerialError) -> Void)?
    ) {
        self.terminal = Mutex(terminal)
        self.link = link
        self.watch = watch
        self.loop = loop
        self.onReturn = onReturn
        self.onFailure = onFailure
    }

    private func serve(_ host: DeviceHost<Device>) async throws(SerialError) {
        await host.onCarrierEvent { [weak self, weak host] event in
            guard let host else { return }
            self?.assumeIsolated { $0.take(event.action, of: host) }
        }
        await host.onCatchUp { [weak self] in await self?.visits?.catchUp() }
        try await join(terminal.withLock(\.self), host)
    }

    /// Begins to serve the visits to a terminal.
    private func join(_ terminal: PseudoTerminal, _ host: DeviceHost<Device>) async throws(SerialError) {
        if await host.heedsFlushes { try terminal.setPacketMode(true) }
        visits = try await PseudoTerminalVisits(to: terminal, by: watch, on: loop) { [weak self] channel in
            self?.assumeIsolated { $0.begin(channel, terminal, host) }
        }
    }

    /// Begins a visit: connects its channel to the device.
    private func begin(_ channel: DescriptorChannel, _ terminal: PseudoTerminal, _ host: DeviceHost<Device>) {
        self.channel = channel
        host.assumeIsolated { _ = $0.attach(channel, terminal: terminal) }
    }

    // MARK: The cable

    private func take(_ action: CarrierEvent.Action, of host: DeviceHost<Device>) {
        switch action {
        case .unplug:
            // The terminal is closed only later, and the device may send again before.
            if let channel { host.assumeIsolated { $0.cutOff(channel) } }
            change { await $0.unplug() }
        case .plugIn: change { await $0.plugIn(host) }
        case .hangUp, .notifyEarly: break
        }
    }

    /// Runs `body` after earlier changes have ended, unless the server was closed. Without this order, the cable could
    /// be back before the old terminal is closed.
    private func change(_ body: @escaping @Sendable (isolated PseudoTerminalServer) async -> Void) {
        changing = Task(executorPreference: loop) { [last = changing] in
            await last?.value
            if await !self.isClosed { await body(self) }
        }
    }

    /// Pulls the cable, which disconnects the terminal's users.
    private func unplug() async {
        // Create the next terminal while the old one keeps its number: the device must not come back under the same
        // name.
        next = next ?? (try? PseudoTerminal(holdsSlaveOpen: false))
        await leave()
    }

    /// Brings the device back on the next terminal, to which the link then leads.
    private func plugIn(_ host: DeviceHost<Device>) async {
        do throws(SerialError) {
            let terminal = if let next { next } else { try PseudoTerminal(holdsSlaveOpen: false) }
            next = nil
            self.terminal.withLock { $0 = terminal }
            try await join(terminal, host)
            if let link { try terminal.putLink(at: link) }
        } catch {
            await leave()
            onFailure?(error)
            return
        }
        onReturn?(path)
    }

    /// Closes the terminal and disconnects its users.
    private func leave() async {
        let visits = visits
        self.visits = nil
        await visits?.close()
        await channel?.close()
        channel = nil
        terminal.withLock(\.self).close()
    }

    /// Removes the link and closes the pseudo-terminal, which disconnects its clients.
    public func close() async {
        isClosed = true
        await changing?.value
        next?.close()
        await leave()
    }
}
