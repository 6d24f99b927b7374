public import DescriptorIO
internal import Glibc

/// Standard input, read when the event loop reports input.
///
/// The descriptor stays in blocking mode, since the shell may share it.
public enum StandardInput {
    /// Asks a question on standard error, and reads the answer from the terminal at standard input.
    ///
    /// Input that was typed before the question is discarded: it can't be an answer.
    ///
    /// - Returns: The typed line with its end; nil at the end of input, or if reading fails.
    /// - Throws: `cancelled` if the task is cancelled, as by Ctrl-C.
    public static func answer(to question: String, on loop: EventLoop) async throws(DescriptorError) -> String? {
        tcflush(STDIN_FILENO, TCIFLUSH)
        StreamWriter.error.write(question)
        // A terminal delivers a line for each read, so that nothing is taken from a program that reads the next lines.
        return try await read(on: loop).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads the next bytes; nil at the end of input or on failure.
    static func read(on loop: EventLoop) async throws(DescriptorError) -> [UInt8]? {
        _ = try await loop.waitUntilReady(STDIN_FILENO, events: CShort(POLLIN))
        var buffer = [UInt8](repeating: 0, count: 4096)
        var count: Int
        repeat { count = Glibc.read(STDIN_FILENO, &buffer, buffer.count) } while count < 0 && errno == EINTR
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
