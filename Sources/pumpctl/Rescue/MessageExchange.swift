import DescriptorIO
import LineProtocol

/// Sends messages over a link, and stores what arrives on it meanwhile.
struct MessageExchange: Sendable {
    private let context: CommandContext
    private let store: any RescueStore
    private let relay: MessageRelay?

    /// - Parameter relay: What the store is used by where others use it too.
    init(_ context: CommandContext, _ store: any RescueStore, by relay: MessageRelay? = nil) {
        self.context = context
        self.store = store
        self.relay = relay
    }

    /// Sends `messages`, which are stored, and marks them `synced` once they are on the wire and the link has not broken.
    ///
    /// Nothing answers a message on a serial line or a socket; over Bluetooth the carrier does, before its `send` returns.
    /// Where the link breaks none is marked: the other end has an id once, however often it comes.
    ///
    /// - Parameter time: How long to go on receiving.
    func send(_ messages: [RescueMessage], receivingFor time: Duration?) async throws {
        let link = try await context.openLink()
        let (context, store) = (context, relay?.entrance(from: link.deviceAddress) ?? store)
        let pause = time.map { time in
            Task(executorPreference: context.loop) { _ = try? await context.clock.sleep(for: time) }
        }
        let receiving = Task(executorPreference: context.loop) {
            defer { pause?.cancel() }
            var intake = MessageIntake(store, context)
            _ = try await intake.receive(from: link)
            try intake.finish()
        }
        do {
            for message in messages { try await link.send(message.json) }
            await withTaskCancellationHandler {
                await pause?.value
            } onCancel: {
                pause?.cancel()
            }
        } catch {
            pause?.cancel()
            await link.close()
            _ = await receiving.result
            throw error
        }
        // Closing lets a serial port send what it has taken.
        await link.close()
        try await receiving.value
        try Task.checkCancellation()
        try await store.markSynced(messages.map(\.id))
    }
}
