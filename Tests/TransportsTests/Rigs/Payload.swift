import TestSupport

/// Bytes that look random and are the same each time.
func payload(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SplitMix64(seed: seed)
    let words = (0...count / 8).map { _ in generator.next() }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
}
