import Glibc

/// Standard input, by the line.
struct Input {
    private static let size = 1 << 16
    /// How long records may gather before they are read.
    private static let gatheringTime: CInt = 20
    /// POLLRDHUP, which glibc hides from Swift. What arrives does not wake who waits for this.
    private static let endOfInput: CShort = 0x2000

    /// How many bytes are so much that nothing need gather.
    private static let abundance = 1 << 14

    private var chunk = [UInt8](repeating: 0, count: size)
    /// The beginning of a line whose end has not come.
    private var rest: [UInt8] = []
    private var isAbundant = false

    /// The lines that have come; waits for one. Nil at the end.
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

    /// Lets what comes gather for a moment, unless it is the end: whoever writes is a device's session, which would have
    /// to wake this program for each line.
    func gather() {
        if isAbundant { return }
        var input = pollfd(fd: STDIN_FILENO, events: Self.endOfInput, revents: 0)
        poll(&input, 1, Self.gatheringTime)
    }
}
