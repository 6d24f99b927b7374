import DeviceTestKit
import Glibc
import Testing

@testable import DescriptorIO

/// A loop on its own thread, with the kernel's facts about that thread.
struct LoopThread {
    let loop: EventLoop
    let threadID: pid_t
    private let clock: clockid_t

    /// Starts a loop on a new thread.
    static func start() async throws -> LoopThread {
        let loop = EventLoop()
        loop.start()
        let (threadID, clock) = await Task(executorPreference: loop) {
            var clock = clockid_t()
            pthread_getcpuclockid(pthread_self(), &clock)
            return (currentThread(), clock)
        }.value
        return LoopThread(loop: loop, threadID: threadID, clock: clock)
    }

    /// Whether the thread exists.
    var exists: Bool { access("/proc/self/task/\(threadID)", F_OK) == 0 }

    /// The processor time used by the thread.
    var processorTime: Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Waits until the loop has handled all that is ready: see `settle` of `DeviceTestKit`.
    func settle() async {
        await DeviceTestKit.settle(loop)
    }
}

/// Polls a condition that nothing signals, for at most a minute. Returns whether it became true.
func eventually(_ isSo: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while !isSo() {
        guard ContinuousClock.now < deadline else { return false }
        await Task.yield()
    }
    return true
}

/// Creates the two ends of a socket, without a channel.
func socketPair() throws -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (ends[0], ends[1])
}

/// The target of a descriptor of this process, such as `socket:[4711]`; nil if it is closed.
func target(of descriptor: CInt) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        let count = readlink("/proc/self/fd/\(descriptor)", buffer.baseAddress!, 255)
        guard count > 0 else { return nil }
        buffer[count] = 0
        return String(cString: buffer.baseAddress!)
    }
}

/// The calling thread's number in /proc.
func currentThread() -> pid_t {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        let count = readlink("/proc/thread-self", buffer.baseAddress!, 255)
        buffer[max(count, 0)] = 0
        return String(cString: buffer.baseAddress!).split(separator: "/").last.flatMap { pid_t($0) } ?? 0
    }
}
