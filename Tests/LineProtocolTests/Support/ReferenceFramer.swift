import LineProtocol

/// What a framer has to hand out, worked out byte by byte with the whole input at hand.
struct ReferenceFramer {
    private(set) var lines: [FramedLine] = []
    private(set) var pending: [UInt8] = []

    /// - Parameter cuts: Where a new chunk begins. It matters for nothing but a `\r` whose `\n` has not come yet.
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
