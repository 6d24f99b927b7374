/// Finds the first of two bytes, sixteen bytes at a time.
///
/// `memchr` can't search for two bytes at once, and this module calls no C.
enum ByteSearch {
    private typealias Block = SIMD16<UInt8>

    /// Returns the offset of the first `one` or `other` from `start` on; nil if there is none.
    @inline(__always)
    static func first(
        _ one: UInt8, or other: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int = 0
    ) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let count = bytes.count
        let ones = Block(repeating: one)
        let others = Block(repeating: other)
        var offset = start
        while offset &+ 16 <= count {
            if let match = firstMatch(ones, others, base + offset) { return offset &+ match }
            offset &+= 16
        }
        if offset < count, count &- 16 >= start {
            // Search the last sixteen bytes. Some of them were searched before, and do not match.
            offset = count &- 16
            return firstMatch(ones, others, base + offset).map { offset &+ $0 }
        }
        while offset < count {
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            if byte == one || byte == other { return offset }
            offset &+= 1
        }
        return nil
    }

    @inline(__always)
    private static func firstMatch(_ ones: Block, _ others: Block, _ bytes: UnsafeRawPointer) -> Int? {
        let block = bytes.loadUnaligned(as: Block.self)
        let matches = (block .== ones) .| (block .== others)
        // A matching lane is all ones. `littleEndian` makes the first lane the lowest byte.
        let halves = unsafeBitCast(matches, to: SIMD2<UInt64>.self)
        if halves[0] != 0 { return UInt64(littleEndian: halves[0]).trailingZeroBitCount / 8 }
        if halves[1] != 0 { return 8 &+ UInt64(littleEndian: halves[1]).trailingZeroBitCount / 8 }
        return nil
    }
}
