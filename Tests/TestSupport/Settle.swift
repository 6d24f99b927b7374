public import DescriptorIO
internal import Glibc

/// Lets a loop run everything that is ready: what has come, who has come and gone, and what follows from it.
///
/// Ten times, or as often as is said, the loop looks at its descriptors and runs what that brings. A job alone would not
/// do: a loop that has much to run does not look in between.
public func settle(_ loop: EventLoop = .shared, rounds: Int = 10) async {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = write(ends[1], "!", 1)
    for _ in 0..<rounds {
        _ = try? await loop.waitUntilReady(ends[0], events: CShort(POLLIN))
        await Task(executorPreference: loop) {}.value
    }
    for end in ends { close(end) }
}
