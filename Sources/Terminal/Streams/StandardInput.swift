internal import DescriptorIO
internal import Glibc

/// Standard input, read when the event loop says that there is something.
///
/// It is not made non-blocking: it may be shared with the shell.
enum StandardInput {
    /// The next bytes; nil at the end, or where there is none.
    static func read(on loop: EventLoop) async throws(DescriptorError) -> [UInt8]? {
        _ = try await loop.waitUntilReady(STDIN_FILENO, events: CShort(POLLIN))
        var buffer = [UInt8](repeating: 0, count: 4096)
        var count: Int
        repeat { count = Glibc.read(STDIN_FILENO, &buffer, buffer.count) } while count < 0 && errno == EINTR
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
