import DescriptorIO
import Synchronization
import Terminal

/// Writes the log, to standard error, on a thread of its own: whoever does not read the log holds up no device.
///
/// What waits to be written is bounded. Lines that find no room are counted, and their number is logged in their place.
final class LogOutput: Sendable {
    private struct State {
        var waitingBytes = 0
        var lostLines = 0
    }

    private let put: @Sendable (String) -> Void
    private let limit: Int
    private let explainLoss: @Sendable (Int) -> String
    private let thread = EventLoop()
    private let state = Mutex(State())

    /// An output with its thread.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that may wait.
    ///   - explainLoss: The line that stands for so many that were lost.
    ///   - put: Writes a line; it may block.
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

    /// Writes a line, soon.
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

    /// On the thread.
    private func putWaiting(_ line: String, _ size: Int) {
        put(line)
        let lost = state.withLock { state in
            state.waitingBytes -= size
            defer { if state.waitingBytes == 0 { state.lostLines = 0 } }
            return state.waitingBytes == 0 ? state.lostLines : 0
        }
        if lost > 0 { put(explainLoss(lost)) }
    }

    /// Waits until all has been written that was logged before, or the task is cancelled.
    func flush() async {
        let (end, source) = AsyncStream.makeStream(of: Never.self)
        thread.execute { source.finish() }
        for await _ in end {}
    }
}
