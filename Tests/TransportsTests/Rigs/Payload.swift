/// Bytes that look random and are the same each time.
func payload(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    // SplitMix64.
    var state = seed
    var words = [UInt64](repeating: 0, count: count / 8 + 1)
    for index in words.indices {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        words[index] = word ^ (word >> 31)
    }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
}
