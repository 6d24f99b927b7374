/// The measurements of a simulated storm sensor. A seed always gives the same rows, any number of them. No row is
/// stored.
public struct StormLog: Sendable, Hashable {
    /// The seed of the rows.
    public let seed: UInt64

    /// Creates the log of a seed.
    public init(seed: UInt64) { self.seed = seed }

    /// Returns rows of the log, each `<pipe> <port> <point> <value>` and a line feed.
    public func text(rows: Range<Int>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(rows.count * 16)
        for index in rows {
            append(row: index, to: &text)
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// Appends a row, without a line end: a pipe from 1 to 4, a port from 1 to 8, a point from 1 to 64, and a value
    /// below 1000 with two decimals. One value in 16 is negative.
    func append(row index: Int, to text: inout [UInt8]) {
        // SplitMix64's output function on a counter: each row can be computed without the others.
        var bits = seed &+ UInt64(bitPattern: Int64(index)) &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        bits ^= bits >> 31
        Self.append(1 + bits & 0x3, to: &text)
        text.append(UInt8(ascii: " "))
        Self.append(1 + (bits >> 2) & 0x7, to: &text)
        text.append(UInt8(ascii: " "))
        Self.append(1 + (bits >> 5) & 0x3F, to: &text)
        text.append(UInt8(ascii: " "))
        if (bits >> 11) & 0xF == 0 { text.append(UInt8(ascii: "-")) }
        let hundredths = (bits >> 15) % 100_000
        Self.append(hundredths / 100, to: &text)
        text.append(UInt8(ascii: "."))
        text.append(UInt8(ascii: "0") + UInt8(hundredths / 10 % 10))
        text.append(UInt8(ascii: "0") + UInt8(hundredths % 10))
    }

    private static func append(_ number: UInt64, to text: inout [UInt8]) {
        var divisor: UInt64 = 1
        while number / divisor > 9 { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
