/// Detects by the first line of a client whether the client speaks a protocol that no device speaks.
///
/// A web page can make a browser send any bytes to a TCP port of this computer, after the first line of an HTTP
/// request.
struct FirstLine: Sendable {
    /// The maximum length in bytes of a first line that is buffered.
    private static let limit = SharedDevice.lineLimit
    /// The beginnings of an incomplete line that are waited for: of SSH, of HTTP/2, and of the requests that a browser
    /// sends at once. Before any other request, a browser asks by OPTIONS whether it may send it.
    private static let beginnings = ["SSH-", "PRI ", "GET ", "HEAD ", "POST ", "OPTIONS ", "CONNECT "].map {
        Array($0.utf8)
    }

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
        guard let end = text.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
            // Other input may have no line end to wait for.
            guard Self.beginnings.contains(where: { $0.starts(with: text) || text.starts(with: $0) }) else {
                return .own(bytes)
            }
            return text.count > Self.limit ? .tooLong : .undecided
        }
        let line = String(decoding: text[..<end], as: UTF8.self)
        let isHTTP = line.split(separator: " ").last?.hasPrefix("HTTP/") == true
        return isHTTP || line.hasPrefix("SSH-") ? .foreign : .own(bytes)
    }
}
