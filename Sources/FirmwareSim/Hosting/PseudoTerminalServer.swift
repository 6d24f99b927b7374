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
    private var visits: PseudoTerminalVisits?
    /// That of the visit that goes on, or was the last.
    private var channel: DescriptorChannel?
    /// Where the device is going to be, while its cable is pulled.
    private var next: PseudoTerminal?
    private var isClosed = false

    /// Makes a pseudo-terminal and joins it to `host`.
    ///
    /// - Parameters:
    ///   - link: Where to put a symbolic link to it; removed by ``close()``.
    ///   - onReturn: Told of the path where the device is back after its cable was pulled.
    /// - Throws: Also where the system does not tell who opens it: then it would not be known who listens.
    public static func open(
        _ host: DeviceHost<Device>, link: String? = nil, on loop: EventLoop = .shared,
        onReturn: (@Sendable (String) -> Void)? = nil
    ) async throws(SerialError) -> PseudoTerminalServer {
        try await open(host, link: link, watch: .shared, on: loop, onReturn: onReturn)
    }

    /// - Parameter watch: Tells when the terminal is opened or closed.
    package static func open(
        _ host: DeviceHost<Device>, link: String? = nil, watch: OpeningWatch, on loop: EventLoop = .shared,
        onReturn: (@Sendable (String) -> Void)? = nil
    ) async throws(SerialError) -> PseudoTerminalServer {
        let terminal = try PseudoTerminal(link: link, holdsSlaveOpen: false)
        let server = PseudoTerminalServer(terminal, link: link, watch: watch, on: loop, onReturn)
        do throws(SerialError) { try await server.serve(host) } catch {
            await server.close()
            throw error
        }
        return server
    }

    private init(
        _ terminal: PseudoTerminal, link: String?, watch: OpeningWatch, on loop: EventLoop,
        _ onReturn: (@Sendable (String) -> Void)?
    ) {
        self.terminal = Mutex(terminal)
        self.link = link
        self.watch = watch
        self.loop = loop
        self.onReturn = onReturn
    }

    private func serve(_ host: DeviceHost<Device>) async throws(SerialError) {
        await host.onCarrierEvent { [weak self, weak host] event in
            self?.assumeIsolated { server in
                switch event.action {
                case .unplug: server.unplug()
                case .plugIn: if let host { server.plugIn(host) }
                case .hangUp, .notifyEarly: break
                }
            }
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

    /// Pulls the cable: its users find themselves disconnected.
    private func unplug() {
        // Made while the old one has its number: the device must not come back under the same name.
        guard !isClosed, next == nil, let next = try? PseudoTerminal(holdsSlaveOpen: false) else { return }
        self.next = next
        let (last, visits) = (terminal.withLock(\.self), visits)
        self.visits = nil
        Task(executorPreference: loop) { [channel] in
            await visits?.close()
            await channel?.close()
            last.close()
        }
    }

    private func plugIn(_ host: DeviceHost<Device>) {
        guard !isClosed, let next else { return }
        self.next = nil
        terminal.withLock { $0 = next }
        Task(executorPreference: loop) {
            do throws(SerialError) {
                try await self.join(next, host)
                if let link = self.link { try next.putLink(at: link) }
            } catch {
                // Somebody else has taken the link's place, or the system has no room: the device stays away.
                return next.close()
            }
            self.onReturn?(self.path)
        }
    }

    /// Removes the link and closes the pseudo-terminal: its clients find themselves disconnected.
    public func close() async {
        isClosed = true
        next?.close()
        await visits?.close()
        await channel?.close()
        terminal.withLock(\.self).close()
    }
}
