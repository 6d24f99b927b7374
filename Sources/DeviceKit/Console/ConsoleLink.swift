internal import LineProtocol
internal import Synchronization

/// The link of a console: lines are sent one after another, no faster than the device reads them, without the console
/// waiting for it.
struct ConsoleLink {
    private let link: any Link
    private let outbox: AsyncStream<Void>.Continuation
    private let waiting: Waiting
    private let sending: Task<Void, Never>

    /// The lines that were not sent yet, in their order.
    private final class Waiting: Sendable {
        let lines = Mutex<[[UInt8]]>([])
    }

    /// What happens on it.
    enum Event: Sendable {
        /// This came.
        case arrived(LinkArrival)
        /// A line could not be sent.
        case notSent([UInt8], LinkError)
    }

    /// Tells of what arrives, and of lines that can't be sent.
    ///
    /// - Parameters:
    ///   - ends: As ``LineConsole/Options/ends``.
    ///   - readingTime: How long the device may need to read a line, and no other is sent.
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

    /// The lines that were not sent yet, in their order; empty once the device may be reading the last.
    var unsent: [[UInt8]] { waiting.lines.withLock { $0 } }

    func send(_ line: [UInt8]) {
        waiting.lines.withLock { $0.append(line) }
        outbox.yield()
    }

    /// Sends what waits, and closes the link.
    ///
    /// - Returns: The lines that were not sent, the first perhaps not wholly: the task was cancelled.
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
