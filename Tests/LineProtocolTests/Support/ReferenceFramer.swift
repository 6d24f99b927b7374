import LineProtocol

/// A framer's expected output, calculated byte by byte from the whole input.
struct ReferenceFramer {
    private(set) var lines: [FramedLine] = []
    private(set) var pending: [UInt8] = []

    /// - Parameter cuts: The offsets at which a new chunk begins. They matter only for a `\r` whose `\n` has not
    ///   arrived yet.
    init(input: [UInt8], limit: Int, cuts: Set<Int> = []) {
        var index = 0
        while index < input.count {
            switch input[index] {
            case 0x0A:
                finish(.lineFeed)
            case 0x0D:
                let hasLineFeed = index + 1 < input.count && input[index + 1] == 0x0A
                finish(hasLineFeed && !cuts.contains(index + 1) ? .lineFeed : .carriageReturn)
                if hasLineFeed { index += 1 }
            default:
                if pending.count == limit { finish(.cut) }
                pending.append(input[index])
            }
            index += 1
        }
    }

    private mutating func finish(_ ending: LineEnding) {
        lines.append(FramedLine(pending, ending))
        pending = []
    }
}
