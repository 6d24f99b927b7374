/// Collects received bytes into lines, each ended by `\n` or `\r`. Empty ones are ignored.
struct CommandLine: Sendable {
    /// The longest line that is one, in bytes; of what is longer nothing is kept.
    private let capacity: Int
    private var buffer: [UInt8] = []
    private var isTooLong = false

    init(capacity: Int = 64) { self.capacity = capacity }

    /// Takes in one byte; the line that it ends, if it ends one.
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
