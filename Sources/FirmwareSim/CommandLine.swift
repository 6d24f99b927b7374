/// Collects received bytes into lines, each ended by `\n` or `\r`. Empty ones are ignored.
struct CommandLine: Sendable {
    /// The longest line that is one; of what is longer nothing is kept.
    static let capacity = 64

    private var buffer: [UInt8] = []
    private var isTooLong = false

    /// Takes in one byte; the line that it ends, if it ends one.
    mutating func append(_ byte: UInt8) -> [UInt8]? {
        guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
            if buffer.count < Self.capacity { buffer.append(byte) } else { isTooLong = true }
            return nil
        }
        defer {
            buffer = []
            isTooLong = false
        }
        return buffer.isEmpty || isTooLong ? nil : buffer
    }
}
