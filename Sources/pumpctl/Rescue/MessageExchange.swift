import DescriptorIO
import LineProtocol

/// Sends messages over a link, and stores what arrives on it meanwhile.
struct MessageExchange: Sendable {
    private let context: CommandContext
    private let relay: MessageRelay

    /// - Parameter relay: What the store is used by.
    init(_ context: CommandContext, _ relay: MessageRelay) {
        self.context = context
        self.relay = relay
    }

    /// Sends `messages`, which are stored, and marks them `synced` once they are on the wire and the link has not broken.
    ///
    /// Nothing answers a message on a serial line or a socket; over Bluetooth the carrier does, before its `send` returns.
    /// Where the link breaks none is marked: the other end has an id once, however often it comes.
    ///
    /// - Parameter time: How long to go on receiving.
    func send(_ messages: [RescueMessage], receivingFor time: Duration?) async throws {
        try await send(messages, over: context.openLink(), receivingFor: time)
    }

    /// As ``send(_:receivingFor:)``, over a link that it closes.
    func send(_ messages: [RescueMessage], over link: any Link, receivingFor time: Duration?) async throws {
        let (context, relay) = (context, relay)
        let pause = time.map { time in
            Task(executorPreference: context.loop) { _ = try? await context.clock.sleep(for: time) }
        }
        let receiving = Task(executorPreference: context.loop) {
            defer { pause?.cancel() }
            var intake = MessageIntake(relay, from: link.deviceAddress, context)
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
        try await relay.entrance(from: link.deviceAddress).markSynced(messages.map(\.id))
    }
}
