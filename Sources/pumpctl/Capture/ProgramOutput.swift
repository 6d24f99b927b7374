import DescriptorIO
import LineProtocol

/// Forwards a program's output on a pseudo-terminal to a device.
///
/// If sending fails, the terminal is hung up: bytes that the program writes before it notices the failure must not be
/// sent later.
actor ProgramOutput {
    private let channel: DescriptorChannel
    private let link: any Link
    private let note: @Sendable (String) -> Void
    /// The send in progress; nil if there is none.
    private var sending: Task<LinkError?, Never>?
    /// The error after which nothing more is sent: that of a send, or `timedOut` after the limit of
    /// ``finish(_:within:)``; nil if there is none.
    private var failure: LinkError?

    nonisolated var unownedExecutor: UnownedSerialExecutor { channel.loop.asUnownedSerialExecutor() }

    /// Creates a forwarder, which starts with ``passOn()``.
    ///
    /// - Parameters:
    ///   - channel: The pseudo-terminal.
    ///   - note: Prints a note that sending has failed.
    init(of channel: DescriptorChannel, to link: any Link, note: @escaping @Sendable (String) -> Void) {
        (self.channel, self.link, self.note) = (channel, link, note)
    }

    /// Forwards output until the task is cancelled, reading fails, the channel is closed on this side, or sending
    /// fails. A send in progress is not cancelled.
    func passOn() async {
        while failure == nil, let bytes = try? await channel.read() { await send(bytes) }
    }

    /// Sends the remaining output of a program that has ended.
    ///
    /// - Parameters:
    ///   - passing: The task of ``passOn()``, which was cancelled.
    ///   - limit: The time limit, by the event loop's clock.
    /// - Throws: `LinkError` if sending has failed, or the limit is reached. Output that was still unread when the
    ///   channel was closed on this side, as after the loss of the device, is discarded without an error.
    func finish(_ passing: Task<Void, Never>, within limit: Duration) async throws(LinkError) {
        // The timer is a task of its own: if the command is interrupted, this task is cancelled, and a sleep in this
        // task would end at once.
        let timer = Task(executorPreference: channel.loop) { [loop = channel.loop] in
            try await EventLoopClock(loop).sleep(for: limit)
            await self.giveUp()
        }
        await passing.value
        while failure == nil, let bytes = try? await channel.readAvailable(), !bytes.isEmpty { await send(bytes) }
        timer.cancel()
        if let failure { throw failure }
    }

    private func send(_ bytes: [UInt8]) async {
        let sending = Task(executorPreference: channel.loop) { [link] () -> LinkError? in
            do throws(LinkError) { try await link.send(bytes) } catch { return error }
            return nil
        }
        self.sending = sending
        let error = await sending.value
        self.sending = nil
        guard let error, failure == nil else { return }
        failure = error
        note("pumpctl: \("\(error)".printable()); the program's port is hung up, and nothing more is sent")
        await channel.close()
    }

    private func giveUp() {
        failure = failure ?? LinkError(.timedOut, name: link.name, activity: "send")
        sending?.cancel()
    }
}
