/// Reads a link with a deadline, and no faster than what it reads is wanted: a slow reader holds the sender back.
///
///     let reader = LinkReader(link, clock: ContinuousClock())
///     while let bytes = try await reader.next(within: .milliseconds(500)) { print(bytes) }
///
/// It has no bytes of its own: what was not asked for stays on the link.
public struct LinkReader: Sendable {
    /// The link that is read.
    public let link: any Link
    let clock: SessionClock

    /// A reader of `link`, which stays the caller's.
    ///
    /// - Parameter clock: What deadlines are measured by.
    public init(_ link: any Link, clock: any Clock<Duration>) {
        self.init(link, clock: SessionClock(clock))
    }

    /// A reader of `link`, whose deadlines are times of `clock`.
    package init(_ link: any Link, clock: SessionClock) {
        self.link = link
        self.clock = clock
    }

    /// The next bytes, a packet where the link keeps packet bounds; nil where none had come when `time` was over.
    ///
    /// - Throws: `disconnected`, `closed`, or `cancelled` when the task is.
    public func next(within time: Duration) async throws(LinkError) -> [UInt8]? {
        try await next(by: clock.elapsed() + time)
    }

    /// The next bytes, a packet where the link keeps packet bounds; nil where none had come by `deadline`, by the clock.
    ///
    /// - Throws: `disconnected`, `closed`, or `cancelled` when the task is.
    package func next(by deadline: Duration) async throws(LinkError) -> [UInt8]? {
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
