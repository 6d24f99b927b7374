import Glibc
import RecordFormat

/// Writes answers to standard output, for the program that has started this process.
struct Output {
    /// The number of buffered bytes at which the buffer is written.
    private static let size = 1 << 16

    private var buffer: [UInt8] = []

    /// Buffers an answer.
    mutating func add(_ answer: Answer) {
        buffer += answer.line.utf8
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.size { flush() }
    }

    /// Writes the buffered answers.
    mutating func flush() {
        Self.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes an answer immediately.
    static func say(_ answer: Answer) { write(Array((answer.line + "\n").utf8)) }

    private static func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
            while !rest.isEmpty {
                let count = Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
                // The reader is gone. Records and requests that are still in the input are nevertheless carried out.
                if count < 0 && errno != EINTR { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[max(0, count)...])
            }
        }
    }
}
