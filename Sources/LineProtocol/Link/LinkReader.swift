/// Reads a link with a patience that ends, and no faster than what it reads is wanted: a slow reader holds the sender back.
struct LinkReader: Sendable {
    let link: any Link
    let clock: SessionClock

    /// The next bytes, a packet where the link keeps packet bounds; nil where none had come by `deadline`, by the clock.
    ///
    /// - Throws: `disconnected`, `closed`, or `cancelled` when the task is.
    func next(by deadline: Duration) async throws(LinkError) -> [UInt8]? {
        // Two packets that are there must not come as one.
        if !link.keepsPacketBounds {
            let bytes = try await link.receiveAvailable()
            if !bytes.isEmpty { return bytes }
        }
        let reading = Task(executorPreference: link.executor) { [link] () -> Result<[UInt8]?, LinkError> in
            do throws(LinkError) { return .success(try await link.receive()) } catch { return .failure(error) }
        }
        let timer = Task(executorPreference: link.executor) { [clock] in
            if (try? await clock.sleep(deadline)) != nil { reading.cancel() }
        }
        defer { timer.cancel() }
        // The reading decides: bytes that came as its time ran out are not lost.
        let result = await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            reading.cancel()
        }
        switch result {
        case .success(let bytes?): return bytes
        case .success(nil): throw LinkError(.closed, name: link.name, activity: "receive")
        case .failure(let error) where error.code == .cancelled && !Task.isCancelled: return nil
        case .failure(let error): throw error
        }
    }
}
