public import DescriptorIO
public import SerialPort

/// Offers a simulated device on a pseudo-terminal, as a serial port for other programs.
///
/// While no program has it open, what the device says is lost, as on a real line.
public actor PseudoTerminalServer<Device: SimulatedDevice> {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The path that clients open: the link, if there is one.
    public nonisolated var path: String { terminal.linkPath ?? terminal.path }

    private let loop: EventLoop
    private let terminal: PseudoTerminal
    private var visits: PseudoTerminalVisits?
    /// That of the visit that goes on, or was the last.
    private var channel: DescriptorChannel?

    /// Makes a pseudo-terminal and joins it to `host`.
    ///
    /// - Parameter link: Where to put a symbolic link to it; removed by ``close()``.
    /// - Throws: Also where the system does not tell who opens it: then it would not be known who listens.
    public static func open(
        _ host: DeviceHost<Device>, link: String? = nil, on loop: EventLoop = .shared
    ) async throws(SerialError) -> PseudoTerminalServer {
        try await open(host, link: link, watch: .shared, on: loop)
    }

    /// - Parameter watch: Tells when the terminal is opened or closed.
    package static func open(
        _ host: DeviceHost<Device>, link: String? = nil, watch: OpeningWatch, on loop: EventLoop = .shared
    ) async throws(SerialError) -> PseudoTerminalServer {
        let server = PseudoTerminalServer(try PseudoTerminal(link: link, holdsSlaveOpen: false), on: loop)
        do throws(SerialError) { try await server.serve(host, watch) } catch {
            await server.close()
            throw error
        }
        return server
    }

    private init(_ terminal: PseudoTerminal, on loop: EventLoop) {
        self.terminal = terminal
        self.loop = loop
    }

    private func serve(_ host: DeviceHost<Device>, _ watch: OpeningWatch) async throws(SerialError) {
        visits = try await PseudoTerminalVisits(to: terminal, by: watch, on: loop) { [weak self] channel in
            self?.assumeIsolated { $0.begin(channel, host) }
        }
    }

    private func begin(_ channel: DescriptorChannel, _ host: DeviceHost<Device>) {
        self.channel = channel
        host.assumeIsolated { _ = $0.attach(channel) }
    }

    /// Removes the link and closes the pseudo-terminal: its clients find themselves disconnected.
    public func close() async {
        await visits?.close()
        await channel?.close()
        terminal.close()
    }
}
