internal import DescriptorIO
public import SerialPort

/// Offers a shared device on a pseudo-terminal, as a serial port for other programs, whatever carries the device.
///
/// Programs that have it open at the same time are one client. What is said while none has it open is lost, as on a real line.
public actor TerminalShare {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    /// The path that clients open.
    public nonisolated var path: String { terminal.linkPath ?? terminal.path }

    private let device: SharedDevice
    private let terminal: PseudoTerminal
    private var visits: PseudoTerminalVisits?
    /// That of the visit that goes on, or was the last.
    private var channel: DescriptorChannel?

    /// Makes a pseudo-terminal for a device.
    ///
    /// - Parameter link: Where to put a symbolic link to it; removed by ``close()``.
    /// - Throws: Also where the system does not tell who opens it: then it would not be known who listens.
    public static func open(_ device: SharedDevice, link: String) async throws(SerialError) -> TerminalShare {
        try await open(device, link: link, openings: .shared)
    }

    /// - Parameter openings: Tells when somebody opens it. On the loop of the device, what was said before this process was stopped
    ///   is known to be older than the pause: ``DescriptorIO/EventLoop/isCatchingUp``.
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

    /// Removes the link and closes the pseudo-terminal: its users find themselves disconnected.
    public func close() async {
        await visits?.close()
        await channel?.close()
        terminal.close()
    }
}
