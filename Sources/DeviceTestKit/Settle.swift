public import DescriptorIO
internal import Glibc

/// Waits until a loop has handled the input and the connections that are ready, and the consequences.
///
///     try await far.send(Array("OVERLOAD\r\n".utf8))
///     await settle()
///
/// The loop polls its descriptors and runs the resulting jobs `rounds` times; each round can handle what the round
/// before has caused. Waiting for a single job would not do: a loop with many jobs does not poll in between.
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
