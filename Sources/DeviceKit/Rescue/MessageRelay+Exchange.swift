public import LineProtocol

extension MessageRelay {
    /// Sends `messages`, which are stored, stores what arrives meanwhile, and closes the link; marks them `synced` once they
    /// are on the wire and the link has not broken.
    ///
    /// Nothing answers a message on a serial line or a socket; over Bluetooth the carrier does, before its `send` returns.
    /// Where the link breaks none is marked: the other end has an id once, however often it comes.
    ///
    /// - Parameter time: How long to go on receiving.
    /// - Throws: `LinkError`, `RescueStoreError`, `CancellationError`.
    public nonisolated func send(
        _ messages: [RescueMessage], over link: any Link, receivingFor time: Duration?
    ) async throws {
        let pause = time.map { time in
            Task(executorPreference: executor) { [clock] in _ = try? await clock.sleep(for: time) }
        }
        let receiving = Task(executorPreference: executor) {
            defer { pause?.cancel() }
            var intake = MessageIntake(self, from: link.deviceAddress)
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
        try await entrance(from: link.deviceAddress).markSynced(messages.map(\.id))
    }

    /// Receives from a device until it leaves, and until what came from it is stored.
    ///
    /// - Throws: `LinkError`; `RescueStoreError` where what has come is not kept; `CancellationError`.
    public nonisolated func receive(from link: any Link) async throws {
        var intake = MessageIntake(self, from: link.deviceAddress)
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

    /// Hands messages on to a device and takes in what comes meanwhile.
    ///
    /// - Parameter staysOpen: Whether to go on receiving until the device leaves. The link is closed otherwise, and where it
    ///   fails.
    /// - Throws: As ``receive(from:)``.
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
