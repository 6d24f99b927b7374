internal import LineProtocol
internal import Synchronization

/// The link of a console. Lines are queued, so that the console waits for the link only in ``close()``, and are sent no
/// faster than the device reads them.
struct ConsoleLink {
    private let link: any Link
    private let outbox: AsyncStream<Void>.Continuation
    private let waiting: Waiting
    private let sending: Task<Void, Never>

    /// The lines that are not sent yet, in order.
    private final class Waiting: Sendable {
        let lines = Mutex<[[UInt8]]>([])
    }

    /// An event on the link.
    enum Event: Sendable {
        /// Bytes arrived, or the link ended.
        case arrived(LinkArrival)
        /// A line could not be sent.
        case notSent([UInt8], LinkError)
    }

    /// Starts to send queued lines and to report arrivals.
    ///
    /// - Parameters:
    ///   - ends: See ``LineConsole/Options/ends``.
    ///   - readingTime: The pause after each line, in which the device reads the line.
    ///   - tell: Receives the events.
    init<C: Clock>(
        _ link: any Link, ends: LineEnds?, readingTime: Duration, clock: C, tell: @escaping @Sendable (Event) -> Void
    ) async where C.Duration == Duration {
        self.link = link
        let (stream, outbox) = AsyncStream.makeStream(of: Void.self)
        self.outbox = outbox
        let waiting = Waiting()
        self.waiting = waiting
        let end = link.lineEnd(ends)
        sending = Task(executorPreference: link.executor) {
            var isRead = clock.now
            for await _ in stream {
                guard (try? await clock.sleep(until: isRead, tolerance: nil)) != nil else { return }
                guard let line = waiting.lines.withLock({ $0.first }) else { continue }
                do throws(LinkError) {
                    try await link.send(line + end)
                    isRead = clock.now.advanced(by: readingTime)
                } catch {
                    if Task.isCancelled { return }
                    tell(.notSent(line, error))
                }
                waiting.lines.withLock { _ = $0.removeFirst() }
            }
        }
        await link.forward { tell(.arrived($0)) }
    }

    /// The lines that are not sent yet, in order. A line is removed once it was written to the link, or reported as
    /// ``Event/notSent(_:_:)``.
    var unsent: [[UInt8]] { waiting.lines.withLock { $0 } }

    /// Queues a line.
    func send(_ line: [UInt8]) {
        waiting.lines.withLock { $0.append(line) }
        outbox.yield()
    }

    /// Sends the queued lines, then closes the link.
    ///
    /// - Returns: The lines that were not sent because the task was cancelled. Part of the first line may have been
    ///   sent.
    @discardableResult
    func close() async -> [[UInt8]] {
        outbox.finish()
        await withTaskCancellationHandler {
            await sending.value
        } onCancel: {
            sending.cancel()
        }
        await link.close()
        return unsent
    }
}
