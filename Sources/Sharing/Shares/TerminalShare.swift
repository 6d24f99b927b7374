internal import DescriptorIO
public import SerialPort

/// A share on a pseudo-terminal, which other programs open as a serial port, whatever link the device itself has.
///
/// Programs that have the terminal open at the same time count as one client. Output is lost while no program has the
/// terminal open, as on a real serial line.
public actor TerminalShare {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    /// The path for clients to open.
    public nonisolated var path: String { terminal.linkPath ?? terminal.path }

    private let device: SharedDevice
    private let terminal: PseudoTerminal
    private var visits: PseudoTerminalVisits?
    /// The channel of the current or the last visit.
    private var channel: DescriptorChannel?

    /// Creates a pseudo-terminal for a device.
    ///
    /// - Parameters:
    ///   - device: The shared device.
    ///   - link: The path of the symbolic link to create; ``close()`` removes it.
    /// - Throws: `SerialError`, also if inotify is not available: the share could not notice that a program opens the
    ///   terminal.
    public static func open(_ device: SharedDevice, link: String) async throws(SerialError) -> TerminalShare {
        try await open(device, link: link, openings: .shared)
    }

    /// - Parameter openings: Reports when the pseudo-terminal is opened. If the watch runs on the device's loop, input
    ///   from before a pause of this process is recognized as older than the pause:
    ///   ``DescriptorIO/EventLoop/isCatchingUp``.
    package static func open(
        _ device: SharedDevice, link: String, openings: OpeningWatch
    ) async throws(SerialError) -> TerminalShare {
        let share = TerminalShare(device, try PseudoTerminal(link: link, holdsSlaveOpen: false))
        do throws(SerialError) { try await share.serve(openings) } catch {
            await share.close()
            throw error
        }
        return share
    }

    private init(_ device: SharedDevice, _ terminal: PseudoTerminal) {
        self.device = device
        self.terminal = terminal
    }

    private func serve(_ openings: OpeningWatch) async throws(SerialError) {
        visits = try await PseudoTerminalVisits(to: terminal, by: openings, on: device.loop) { [weak self] channel in
            self?.assumeIsolated { $0.begin(channel) }
        }
    }

    private func begin(_ channel: DescriptorChannel) {
        self.channel = channel
        device.assumeIsolated { [path] in $0.join(channel, path, .terminal) }
    }

    /// Removes the symbolic link and closes the pseudo-terminal. Its users are disconnected.
    public func close() async {
        await visits?.close()
        await channel?.close()
        terminal.close()
    }
}
