/// Reads a link with a deadline, and only on demand, so that back-pressure reaches the sender.
///
///     let reader = LinkReader(link, clock: ContinuousClock())
///     while let bytes = try await reader.next(within: .milliseconds(500)) { print(bytes) }
///
/// A reader has no buffer: bytes that nobody has requested stay on the link.
public struct LinkReader: Sendable {
    /// The link to read from.
    public let link: any Link
    let clock: SessionClock

    /// Creates a reader of `link`. The caller closes the link.
    ///
    /// - Parameters:
    ///   - link: The link to read from.
    ///   - clock: The clock for deadlines.
    public init(_ link: any Link, clock: any Clock<Duration>) {
        self.init(link, clock: SessionClock(clock))
    }

    /// Creates a reader of `link` whose deadlines are times of `clock`.
    package init(_ link: any Link, clock: SessionClock) {
        self.link = link
        self.clock = clock
    }

    /// Returns the next bytes, or the next packet if the link keeps packet bounds; nil if none arrive within `time`.
    ///
    /// - Throws: `closed` if the link was closed at this end; otherwise the errors of ``Link/receive()``.
    public func next(within time: Duration) async throws(LinkError) -> [UInt8]? {
        try await next(by: clock.elapsed() + time)
    }

    /// Returns the next bytes, or the next packet if the link keeps packet bounds; nil if none arrive by `deadline`, a
    /// time of the clock.
    ///
    /// - Throws: `closed` if the link was closed at this end; otherwise the errors of ``Link/receive()``.
    package func next(by deadline: Duration) async throws(LinkError) -> [UInt8]? {
        // A link may join packets in `receiveAvailable()`, but not in `receive()`.
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
        // The result of the reading decides: bytes that arrive just as the time runs out are not lost.
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
