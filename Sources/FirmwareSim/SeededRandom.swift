/// A SplitMix64 generator. The same seed and stream give the same numbers on every machine.
struct SeededRandom: Sendable {
    private var state: UInt64

    init(seed: UInt64, stream: UInt64) {
        state = seed &+ stream &* 0xD1B5_4A32_D192_ED03
        state = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, but not including, `bound`, from an almost uniform distribution. `bound` is at
    /// most 2^32.
    mutating func number(below bound: Int) -> Int { Int(truncatingIfNeeded: next() >> 32) % bound }

    /// Returns a number from 0 up to, but not including, 1.
    mutating func share() -> Double { Double(next() >> 11) * 0x1p-53 }
}
