public import DescriptorIO
public import SerialPort
internal import Synchronization

/// Offers a simulated device on a pseudo-terminal, as a serial port for other programs.
///
/// While no program has it open, what the device says is lost, as on a real line. A fault may pull the cable: it is then
/// another pseudo-terminal, to which the link leads, if there is one.
public actor PseudoTerminalServer<Device: SimulatedDevice> {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The path that clients open: the link, if there is one. It changes where the cable is pulled and there is no link.
    public nonisolated var path: String { terminal.withLock { $0.linkPath ?? $0.path } }

    private nonisolated let loop: EventLoop
    private nonisolated let terminal: Mutex<PseudoTerminal>
    private let link: String?
    private let watch: OpeningWatch
    private let onReturn: (@Sendable (String) -> Void)?
    private let onFailure: (@Sendable (SerialError) -> Void)?
    private var visits: PseudoTerminalVisits?
    /// That of the visit that goes on, or was the last.
    private var channel: DescriptorChannel?
    /// Where the device is going to be, while its cable is pulled.
    private var next: PseudoTerminal?
    /// Pulls the cable or plugs it in, once what it waits for has been done.
    private var changing: Task<Void, Never>?
    private var isClosed = false

    /// Makes a pseudo-terminal and joins it to `host`.
    ///
    /// - Parameters:
    ///   - link: Where to put a symbolic link to it; removed by ``close()``.
    ///   - onReturn: Told of the path where the device is back after its cable was pulled.
    ///   - onFailure: Told why it does not come back: something else has the link's place, or the system has no terminal left.
    ///     It is tried again when the cable is pulled the next time.
    /// - Throws: Also where the system does not tell who opens it: then it would not be known who listens.
    public static func open(
        _ host: DeviceHost<Device>, link: String? = nil, on loop: EventLoop = .shared,
        onReturn: (@Sendable (String) -> Void)? = nil, onFailure: (@Sendable (SerialError) -> Void)? = nil
    ) async throws(SerialError) -> PseudoTerminalServer {
        try await open(host, link: link, watch: .shared, on: loop, onReturn: onReturn, onFailure: onFailure)
    }

    /// - Parameter watch: Tells when the terminal is opened or closed.
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
        try await join(terminal.withLock(\.self), host)
    }

    private func join(_ terminal: PseudoTerminal, _ host: DeviceHost<Device>) async throws(SerialError) {
        if await host.heedsFlushes { try terminal.setPacketMode(true) }
        visits = try await PseudoTerminalVisits(to: terminal, by: watch, on: loop) { [weak self] channel in
            self?.assumeIsolated { $0.begin(channel, terminal, host) }
        }
    }

    private func begin(_ channel: DescriptorChannel, _ terminal: PseudoTerminal, _ host: DeviceHost<Device>) {
        self.channel = channel
        host.assumeIsolated { _ = $0.attach(channel, terminal: terminal) }
    }

    // MARK: The cable

    private func take(_ action: CarrierEvent.Action, of host: DeviceHost<Device>) {
        switch action {
        case .unplug:
            // The terminal is closed only later, but the device may speak again before.
            if let channel { host.assumeIsolated { $0.cutOff(channel) } }
            change { await $0.unplug() }
        case .plugIn: change { await $0.plugIn(host) }
        case .hangUp, .notifyEarly: break
        }
    }

    /// Has `body` run once all that was begun before has ended: the cable may be back before the old terminal is closed.
    private func change(_ body: @escaping @Sendable (isolated PseudoTerminalServer) async -> Void) {
        changing = Task(executorPreference: loop) { [last = changing] in
            await last?.value
            if await !self.isClosed { await body(self) }
        }
    }

    /// Pulls the cable: its users find themselves disconnected.
    private func unplug() async {
        // Made while the old one has its number: the device must not come back under the same name.
        next = next ?? (try? PseudoTerminal(holdsSlaveOpen: false))
        await leave()
    }

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

    /// Leaves the terminal, and hangs up on its users.
    private func leave() async {
        let visits = visits
        self.visits = nil
        await visits?.close()
        await channel?.close()
        channel = nil
        terminal.withLock(\.self).close()
    }

    /// Removes the link and closes the pseudo-terminal: its clients find themselves disconnected.
    public func close() async {
        isClosed = true
        await changing?.value
        next?.close()
        await leave()
    }
}
