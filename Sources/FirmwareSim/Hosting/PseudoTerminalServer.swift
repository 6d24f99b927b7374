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
    private let channel: DescriptorChannel
    private var clients: PseudoTerminalClients?

    /// Makes a pseudo-terminal and joins it to `host`.
    ///
    /// - Parameter link: Where to put a symbolic link to it; removed by ``close()``.
    public static func open(
        _ host: DeviceHost<Device>, link: String? = nil, on loop: EventLoop = .shared
    ) async throws(SerialError) -> PseudoTerminalServer {
        let server = PseudoTerminalServer(try PseudoTerminal(link: link), on: loop)
        await server.serve(host)
        return server
    }

    private init(_ terminal: PseudoTerminal, on loop: EventLoop) {
        self.terminal = terminal
        self.loop = loop
        channel = terminal.channel(on: loop)
    }

    private func serve(_ host: DeviceHost<Device>) async {
        let id = await host.attach(channel, isListening: false)
        clients = await PseudoTerminalClients(of: terminal, on: loop) { [terminal, loop] isOpen in
            host.assumeIsolated { $0.setListening(isOpen, id) }
            // Once a writer that waits for room, which was cancelled just now, can no longer fill what this empties.
            if !isOpen { loop.execute { terminal.discardUnread() } }
        }
        // Who can't be watched is taken to listen.
        if clients == nil { await host.setListening(true, id) }
    }

    /// Removes the link and closes the pseudo-terminal: its clients find themselves disconnected.
    public func close() async {
        await clients?.close()
        await channel.close()
    }
}
