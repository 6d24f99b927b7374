/// Why an ESP32 has restarted, as its boot ROM says: `rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)`.
public struct ESP32Reset: Sendable, Hashable {
    /// The cause, as the ROM names it: `POWERON_RESET`, `RTCWDT_BROWN_OUT_RESET`; empty where it names none.
    public var cause: String

    /// Reads a line; nil if it tells of no restart.
    public init?(line: [UInt8]) {
        let mark = Array("rst:0x".utf8)
        guard let start = line.indices.first(where: { line[$0...].starts(with: mark) }) else { return nil }
        let rest = line[(start + mark.count)...].drop { UnicodeScalar($0).properties.isASCIIHexDigit }
        guard rest.startIndex > start + mark.count else { return nil }
        let name = rest.starts(with: " (".utf8) ? rest.dropFirst(2).prefix { $0 != UInt8(ascii: ")") } : []
        let isName = name.allSatisfy { byte in
            ("A"..."Z").contains(UnicodeScalar(byte)) || ("0"..."9").contains(UnicodeScalar(byte))
                || byte == UInt8(ascii: "_")
        }
        cause = isName ? String(decoding: name, as: UTF8.self) : ""
    }

    /// Whether the chip restarted because its supply was too weak.
    public var isBrownOut: Bool { cause.contains("BROWN") }
}
