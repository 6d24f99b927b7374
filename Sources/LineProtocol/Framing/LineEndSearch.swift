/// Finds the first `\n` or `\r`, sixteen bytes at a time.
///
/// Searching for two bytes at once is what `memchr` can't do, and this room calls no C.
enum LineEndSearch {
    @inline(__always)
    static func firstLineEnd(in bytes: UnsafeRawBufferPointer) -> Int? {
        var offset = 0
        let count = bytes.count
        let lineFeeds = SIMD16<UInt8>(repeating: .lineFeed)
        let carriageReturns = SIMD16<UInt8>(repeating: .carriageReturn)
        while offset &+ 16 <= count {
            let block = bytes.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
            let matches = (block .== lineFeeds) .| (block .== carriageReturns)
            // A matching lane is all ones; the low lanes are the low bytes on the little-endian machines we run on.
            let halves = unsafeBitCast(matches, to: SIMD2<UInt64>.self)
            if halves[0] != 0 { return offset &+ UInt64(littleEndian: halves[0]).trailingZeroBitCount / 8 }
            if halves[1] != 0 { return offset &+ 8 &+ UInt64(littleEndian: halves[1]).trailingZeroBitCount / 8 }
            offset &+= 16
        }
        while offset < count {
            let byte = bytes[offset]
            if byte == .lineFeed || byte == .carriageReturn { return offset }
            offset &+= 1
        }
        return nil
    }
}
