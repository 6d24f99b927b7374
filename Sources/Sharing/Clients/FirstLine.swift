/// Detects by the first line of a client whether the client speaks a protocol that no device speaks.
///
/// A web page can make a browser send any bytes to a TCP port of this computer, after the first line of an HTTP
/// request.
struct FirstLine: Sendable {
    /// The maximum length in bytes of a first line that is buffered.
    private static let limit = SharedDevice.lineLimit

    /// The result of looking at the beginning of a client's input.
    enum Verdict: Sendable, Hashable {
        /// More input is needed. The bytes are kept.
        case undecided
        /// HTTP, TLS or SSH.
        case foreign
        /// Input for a device: all bytes so far.
        case own([UInt8])
        /// A line that exceeds the limit.
        case tooLong
    }

    private var bytes: [UInt8] = []

    /// Adds input, and returns the verdict on all input so far.
    mutating func append(_ more: [UInt8]) -> Verdict {
        bytes += more
        // Empty lines may precede the first line.
        let text = bytes.drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        guard let first = text.first else { return bytes.count > Self.limit ? .own(bytes) : .undecided }
        // A TLS record begins with its type, 22 for a handshake.
        if first == 0x16 { return .foreign }
        // The first line of HTTP or SSH begins with a letter. Other input may have no line end to wait for.
        if !(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first & ~0x20) { return .own(bytes) }
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else {
            return text.count > Self.limit ? .tooLong : .undecided
        }
        let line = String(decoding: text[..<end], as: UTF8.self)
        let isHTTP = line.split(separator: " ").last?.hasPrefix("HTTP/") == true
        return isHTTP || line.hasPrefix("SSH-") ? .foreign : .own(bytes)
    }
}
