import DescriptorIO
import LineProtocol

/// Passes on to a device what a program writes to its terminal.
///
/// Where something can't be sent, the terminal is hung up: what the program wrote before it knew must not be sent later.
actor ProgramOutput {
    private let channel: DescriptorChannel
    private let link: any Link
    private let note: @Sendable (String) -> Void
    /// What is being sent.
    private var sending: Task<LinkError?, Never>?
    /// Why nothing more is sent.
    private var failure: LinkError?

    nonisolated var unownedExecutor: UnownedSerialExecutor { channel.loop.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - channel: The terminal.
    ///   - note: Where to say that something can't be sent.
    init(of channel: DescriptorChannel, to link: any Link, note: @escaping @Sendable (String) -> Void) {
        (self.channel, self.link, self.note) = (channel, link, note)
    }

    /// Passes on until the task is cancelled, the terminal is closed, or something can't be sent. What is being sent then is
    /// not cancelled.
    func passOn() async {
        while failure == nil, let bytes = try? await channel.read() { await send(bytes) }
    }

    /// Sends what is left of a program that has ended.
    ///
    /// - Parameters:
    ///   - passing: The task of ``passOn()``, which was cancelled.
    ///   - limit: For how long it may take, by the clock.
    /// - Throws: `LinkError`: not all was sent.
    func finish(_ passing: Task<Void, Never>, within limit: Duration) async throws(LinkError) {
        // Of a task of its own: also a command that was interrupted sends all of it.
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
        note("pumpctl: \("\(error)".printable()): the program's port is hung up, and nothing more is sent")
        await channel.close()
    }

    private func giveUp() {
        failure = failure ?? LinkError(.timedOut, name: link.name, activity: "send")
        sending?.cancel()
    }
}
