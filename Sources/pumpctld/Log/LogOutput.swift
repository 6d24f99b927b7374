import DescriptorIO
import Synchronization
import Terminal

/// Writes the log to standard error on a thread of its own, so that a slow reader of the log delays no device.
///
/// The queue is bounded. Lines that do not fit are dropped. Their number is logged when the queue is empty, possibly
/// after later lines.
final class LogOutput: Sendable {
    private struct State {
        /// The number of queued bytes.
        var waitingBytes = 0
        /// The number of lines dropped since the queue was last empty.
        var lostLines = 0
    }

    private let put: @Sendable (String) -> Void
    private let limit: Int
    private let explainLoss: @Sendable (Int) -> String
    private let thread = EventLoop()
    private let state = Mutex(State())

    /// Creates an output and starts its thread.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of queued bytes.
    ///   - explainLoss: Returns the line to log in place of a number of dropped lines.
    ///   - put: Writes a line, on the output's thread; may block.
    init(
        limit: Int = 1 << 20, explainLoss: @escaping @Sendable (Int) -> String,
        put: @escaping @Sendable (String) -> Void = { StandardStream.error.write($0) }
    ) {
        self.put = put
        self.limit = limit
        self.explainLoss = explainLoss
        thread.start()
    }

    deinit { thread.stop() }

    /// Queues a line, which includes its line end, or drops it if the queue is full. May be called on any thread.
    func write(_ line: String) {
        let size = line.utf8.count
        let hasRoom = state.withLock { state in
            guard state.waitingBytes + size <= limit else {
                state.lostLines += 1
                return false
            }
            state.waitingBytes += size
            return true
        }
        guard hasRoom else { return }
        thread.execute { self.putWaiting(line, size) }
    }

    /// Writes a queued line, on the output's thread.
    private func putWaiting(_ line: String, _ size: Int) {
        put(line)
        let lost = state.withLock { state in
            state.waitingBytes -= size
            defer { if state.waitingBytes == 0 { state.lostLines = 0 } }
            return state.waitingBytes == 0 ? state.lostLines : 0
        }
        if lost > 0 { put(explainLoss(lost)) }
    }

    /// Waits until all lines queued so far are written, or the task is cancelled.
    func flush() async {
        let (end, source) = AsyncStream.makeStream(of: Never.self)
        thread.execute { source.finish() }
        for await _ in end {}
    }
}
