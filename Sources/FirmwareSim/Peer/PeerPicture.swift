/// A PNG: a given file, or generated noise. The same seed and size always give the same bytes.
public struct PeerPicture: Sendable, Hashable {
    /// The smallest size of a generated picture, in bytes.
    public static let leastByteCount = 128

    /// The content of the file.
    public let bytes: [UInt8]

    /// Creates a picture with the content of a file.
    public init(file: [UInt8]) { bytes = file }

    /// Generates a picture of noise.
    ///
    /// - Parameters:
    ///   - seed: The seed of the noise.
    ///   - byteCount: The size of the file in bytes; a smaller size counts as ``leastByteCount``.
    public init(seed: UInt64, byteCount: Int) {
        let byteCount = max(byteCount, Self.leastByteCount)
        // Signature, header, end, and an empty comment.
        let frame = 8 + (12 + 13) + 12 + (12 + Self.comment.count)
        let room = byteCount - frame
        var width = 1
        while (width + 1) * (width + 1) * 3 <= room { width += 1 }
        var height = 1
        while Self.dataLength(width, height + 1) <= room { height += 1 }
        while Self.dataLength(width, height) > room { width -= 1 }

        var file = Self.signature
        file.reserveCapacity(byteCount)
        // Eight bits each of red, green and blue.
        Self.append("IHDR", Self.bigEndian(width) + Self.bigEndian(height) + [8, 2, 0, 0, 0], to: &file)
        // The comment fills the file up to the requested size.
        let filler = [UInt8](repeating: UInt8(ascii: "."), count: room - Self.dataLength(width, height))
        Self.append("tEXt", Self.comment + filler, to: &file)
        Self.append("IDAT", Self.stored(Self.pixels(seed, width, height)), to: &file)
        Self.append("IEND", [], to: &file)
        bytes = file
    }

    /// The first bytes of every PNG.
    public static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static let comment = Array("Comment\0".utf8)

    /// Returns the length of the data chunk of a picture with this width and height, including the chunk's frame.
    private static func dataLength(_ width: Int, _ height: Int) -> Int {
        let raw = height * (1 + width * 3)
        // The chunk's frame, the header of zlib, 5 bytes for each stored block, the data, and the Adler-32 checksum.
        return 12 + 2 + (raw + 65_534) / 65_535 * 5 + raw + 4
    }

    /// Returns the rows, each after the number of its filter, which is 0 for none.
    private static func pixels(_ seed: UInt64, _ width: Int, _ height: Int) -> [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(height * (1 + width * 3))
        var state = seed
        var noise: UInt64 = 0
        var noiseLength = 0
        for _ in 0..<height {
            pixels.append(0)
            for _ in 0..<width * 3 {
                if noiseLength == 0 {
                    // SplitMix64.
                    state &+= 0x9E37_79B9_7F4A_7C15
                    noise = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
                    noise = (noise ^ (noise >> 27)) &* 0x94D0_49BB_1331_11EB
                    noise ^= noise >> 31
                    noiseLength = 8
                }
                pixels.append(UInt8(truncatingIfNeeded: noise))
                noise >>= 8
                noiseLength -= 1
            }
        }
        return pixels
    }

    /// Returns a zlib stream of stored blocks, without compression. A block has at most 65,535 bytes. The sums of the
    /// Adler-32 checksum are modulo 65,521. (RFC 1950, RFC 1951)
    private static func stored(_ raw: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        stream.reserveCapacity(raw.count + raw.count / 10_000 + 16)
        var (a, b): (UInt32, UInt32) = (1, 0)
        for start in stride(from: 0, to: raw.count, by: 65_535) {
            let block = raw[start..<min(start + 65_535, raw.count)]
            let length = UInt16(block.count)
            stream.append(block.endIndex == raw.count ? 1 : 0)
            for number in [length, ~length] {
                stream += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
            }
            stream += block
            for byte in block {
                a = (a + UInt32(byte)) % 65_521
                b = (b + a) % 65_521
            }
        }
        return stream + bigEndian(Int(b << 16 | a))
    }

    private static func append(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
        file += bigEndian(data.count)
        let start = file.count
        file += type.utf8
        file += data
        file += bigEndian(Int(checksum(file[start...])))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    // MARK: CRC-32

    private static let remainders: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : 0xEDB8_8320 ^ value >> 1 }
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let remainders = remainders
        return ~bytes.reduce(~0) { value, byte in
            remainders[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8
        }
    }
}
