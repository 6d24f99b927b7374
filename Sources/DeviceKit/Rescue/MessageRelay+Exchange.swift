public import LineProtocol

extension MessageRelay {
    /// Sends stored messages to a device, stores the messages that arrive in the meantime, and closes the link. Then
    /// marks the sent messages `synced`, if the link did not break.
    ///
    /// A serial line or a socket has no acknowledgement of messages, so bytes that were sent before the link broke may
    /// be lost. Then no message is marked, and all may be sent again: the receiver stores each id only once. Over
    /// Bluetooth, the phone acknowledges each write before the link's `send` returns.
    ///
    /// - Parameters:
    ///   - messages: The messages.
    ///   - link: The link to the receiver.
    ///   - time: The time to receive, counted from this call, unless the relay's goal is reached; nil to end after
    ///     sending.
    /// - Throws: `LinkError`, `RescueStoreError`, `CancellationError`.
    public nonisolated func send(
        _ messages: [RescueMessage], over link: any Link, receivingFor time: Duration?
    ) async throws {
        let pause = time.map { time in
            Task(executorPreference: executor) { [clock] in _ = try? await clock.sleep(for: time) }
        }
        let receiving = Task(executorPreference: executor) {
            defer { pause?.cancel() }
            var intake = MessageIntake(self)
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
        // Closing lets a serial port transmit the bytes that it has accepted.
        await link.close()
        try await receiving.value
        try Task.checkCancellation()
        try await entrance(from: link.deviceAddress).markSynced(messages.map(\.id))
    }

    /// Receives messages from a device until the device leaves or the relay's goal is reached, then waits until the
    /// messages are stored.
    ///
    /// - Throws: `LinkError`; `RescueStoreError` if received messages are not stored; `CancellationError`.
    public nonisolated func receive(from link: any Link) async throws {
        var intake = MessageIntake(self)
        let result: Result<Void, any Error>
        do {
            _ = try await intake.receive(from: link)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        do { try await intake.untilStored() } catch {
            try intake.finish()
            throw error
        }
        try result.get()
    }

    /// Sends messages to a phone over Bluetooth, and stores the messages that arrive in the meantime. In contrast to
    /// ``send(_:over:receivingFor:)``, messages that were sent before a failure are marked `synced`, and messages are
    /// not sent back to the phone from which this relay has received them.
    ///
    /// - Parameters:
    ///   - messages: The messages.
    ///   - link: The link to the phone.
    ///   - staysOpen: Whether to go on receiving until the phone leaves or the relay's goal is reached. If false, the
    ///     link is closed after sending. The link is also closed if sending fails.
    /// - Throws: The errors of ``receive(from:)``.
    public nonisolated func exchange(
        _ messages: [RescueMessage], over link: any Link, staysOpen: Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: executor) { try await self.receive(from: link) }
            do { try await handOn(messages, over: link) } catch {
                await link.close()
                try await group.waitForAll()
                throw error
            }
            if !staysOpen { await link.close() }
            try await group.waitForAll()
        }
    }
}
