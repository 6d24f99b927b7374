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
    private let channel: DescriptorChannel
    private var users: PseudoTerminalClients?

    /// Makes a pseudo-terminal for a device.
    ///
    /// - Parameter link: Where to put a symbolic link to it; removed by ``close()``.
    /// - Throws: Also where the system does not tell who opens it: then it would not be known who listens.
    public static func open(_ device: SharedDevice, link: String) async throws(SerialError) -> TerminalShare {
        let share = TerminalShare(device, try PseudoTerminal(link: link))
        do throws(SerialError) { try await share.serve() } catch {
            await share.close()
            throw error
        }
        return share
    }

    private init(_ device: SharedDevice, _ terminal: PseudoTerminal) {
        self.device = device
        self.terminal = terminal
        channel = terminal.channel(on: device.loop)
    }

    private func serve() async throws(SerialError) {
        let look: @Sendable () -> Void = { [weak self] in self?.assumeIsolated { $0.lookForUsers() } }
        let id = await device.join(channel, path, .terminal, onUnexpectedSpeech: look)
        users = try await PseudoTerminalClients(of: terminal, on: device.loop) { [device, terminal] isOpen in
            device.assumeIsolated { device in
                // What is left of the time before is not the next one's.
                if isOpen, !device.isListening(id) { terminal.discardUnread() }
                device.setListening(isOpen, id)
            }
            // Once a writer that waits for room, which was cancelled just now, can no longer fill what this empties.
            if !isOpen { device.loop.execute { terminal.discardUnread() } }
        }
    }

    /// Who speaks may have gone by the time that it is read, and the look at its closing may have come before that.
    private func lookForUsers() {
        if let users, users.seesEverybody { users.look() }
    }

    /// Removes the link and closes the pseudo-terminal: its users find themselves disconnected.
    public func close() async {
        await users?.close()
        await channel.close()
    }
}
