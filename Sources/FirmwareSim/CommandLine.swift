/// Collects received bytes into lines, each ended by `\n` or `\r`. Ignores empty lines and lines that are too long.
///
/// The pump's ``PumpCommandLine`` instead reports a line that is too long, and keeps each line until it is handled.
struct CommandLine: Sendable {
    /// The longest accepted line, in bytes. A longer line is dropped whole.
    private let capacity: Int
    private var buffer: [UInt8] = []
    private var isTooLong = false

    init(capacity: Int = 64) { self.capacity = capacity }

    /// Takes in one byte. Returns the line that the byte ends; nil if the byte ends no accepted line.
    mutating func append(_ byte: UInt8) -> [UInt8]? {
        guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
            if buffer.count < capacity { buffer.append(byte) } else { isTooLong = true }
            return nil
        }
        defer {
            buffer = []
            isTooLong = false
        }
        return buffer.isEmpty || isTooLong ? nil : buffer
    }
}
