/// The cause of an ESP32's restart, as its boot ROM prints it: `rst:0x1 (POWERON_RESET),boot:0x13
/// (SPI_FAST_FLASH_BOOT)`.
public struct ESP32Reset: Sendable, Hashable {
    /// The ROM's name of the cause, such as `POWERON_RESET` or `RTCWDT_BROWN_OUT_RESET`; empty if the ROM gives none.
    public var cause: String

    private static let mark = Array("rst:0x".utf8)

    /// Parses a line; nil if it reports no restart.
    public init?(line: [UInt8]) { self.init(line: line.span) }

    /// Parses a line; nil if it reports no restart.
    public init?(line: Span<UInt8>) {
        guard let text = line.withUnsafeBytes(Self.textBehindMark) else { return nil }
        let rest = text.drop { UnicodeScalar($0).properties.isASCIIHexDigit }
        guard rest.startIndex > text.startIndex else { return nil }
        let name = rest.starts(with: " (".utf8) ? rest.dropFirst(2).prefix { $0 != UInt8(ascii: ")") } : []
        let isName = name.allSatisfy { byte in
            ("A"..."Z").contains(UnicodeScalar(byte)) || ("0"..."9").contains(UnicodeScalar(byte))
                || byte == UInt8(ascii: "_")
        }
        cause = isName ? String(decoding: name, as: UTF8.self) : ""
    }

    /// Whether a report of a restart may begin in `bytes`, which may be cut anywhere.
    package static func mayBegin(in bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { ByteSearch.first(mark[0], or: mark[0], in: $0) } != nil
    }

    private static func textBehindMark(in line: UnsafeRawBufferPointer) -> [UInt8]? {
        var index = 0
        while let start = ByteSearch.first(UInt8(ascii: "r"), or: UInt8(ascii: "r"), in: line, from: index) {
            if line[start...].starts(with: mark) { return Array(line[(start + mark.count)...]) }
            index = start + 1
        }
        return nil
    }

    /// Whether the chip restarted because its supply voltage was too low.
    public var isBrownOut: Bool { cause.contains("BROWN") }
}
