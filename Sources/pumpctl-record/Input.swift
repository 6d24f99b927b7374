import Glibc

/// Reads lines from standard input.
struct Input {
    private static let size = 1 << 16
    /// The time in milliseconds in which further records may accumulate before the next read.
    private static let gatheringTime: CInt = 20
    /// POLLRDHUP, which Swift's Glibc does not export. Arriving data does not wake a poll for this event.
    private static let endOfInput: CShort = 0x2000

    /// The smallest number of bytes in a read after which ``gather()`` does not wait for more.
    private static let abundance = 1 << 14

    private var chunk = [UInt8](repeating: 0, count: size)
    /// The beginning of an incomplete line.
    private var rest: [UInt8] = []
    /// Whether the last read returned ``abundance`` or more.
    private var isAbundant = false

    /// Waits for at least one complete line, and returns the complete lines received so far, except empty ones. Returns
    /// nil at the end of input or if reading fails: an incomplete last line is dropped.
    mutating func next() -> [Substring]? {
        while true {
            let count = read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            isAbundant = count >= Self.abundance
            guard let end = chunk[..<count].lastIndex(of: 0x0A) else {
                rest += chunk[..<count]
                continue
            }
            let text = String(decoding: rest + chunk[..<end], as: UTF8.self)
            rest = Array(chunk[(end + 1)..<count])
            return text.utf8.split(separator: 0x0A).map { Substring($0) }
        }
    }

    /// Lets input accumulate for 20 ms, or until its end. Without this pause, the program that records would wake this
    /// process for each record. After a read of ``abundance`` bytes, which hold many records, returns at once.
    func gather() {
        if isAbundant { return }
        var input = pollfd(fd: STDIN_FILENO, events: Self.endOfInput, revents: 0)
        poll(&input, 1, Self.gatheringTime)
    }
}
