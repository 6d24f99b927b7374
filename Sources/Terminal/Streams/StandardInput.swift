internal import DescriptorIO
internal import Glibc

/// Standard input, read when the event loop reports input.
///
/// The descriptor stays in blocking mode, since the shell may share it.
enum StandardInput {
    /// Reads the next bytes; nil at the end of input or on failure.
    static func read(on loop: EventLoop) async throws(DescriptorError) -> [UInt8]? {
        _ = try await loop.waitUntilReady(STDIN_FILENO, events: CShort(POLLIN))
        var buffer = [UInt8](repeating: 0, count: 4096)
        var count: Int
        repeat { count = Glibc.read(STDIN_FILENO, &buffer, buffer.count) } while count < 0 && errno == EINTR
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
