import Glibc

/// The serial ports of USB adapters and boards, by their names in `/dev`.
enum SerialPorts {
    /// Their paths, sorted.
    static func paths() -> [String] {
        var pattern = glob_t()
        defer { globfree(&pattern) }
        glob("/dev/ttyUSB*", 0, nil, &pattern)
        glob("/dev/ttyACM*", CInt(GLOB_APPEND), nil, &pattern)
        return (0..<Int(pattern.gl_pathc)).compactMap { pattern.gl_pathv[$0].map { String(cString: $0) } }
    }
}
