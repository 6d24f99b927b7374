/// Tells by what a client says first whether it speaks a protocol that no device does.
///
/// A web page can have a browser send any bytes to a TCP port of this computer, behind the first line of a request.
struct FirstLine: Sendable {
    /// The longest first line in bytes that is waited for.
    private static let limit = SharedDevice.lineLimit

    /// What a beginning is.
    enum Verdict: Sendable, Hashable {
        /// It does not tell yet, and is kept.
        case undecided
        /// HTTP, TLS or SSH.
        case foreign
        /// For a device; with all that has come so far.
        case own([UInt8])
        /// Longer than any line that a device takes.
        case tooLong
    }

    private var bytes: [UInt8] = []

    /// Takes in what has come next.
    mutating func append(_ more: [UInt8]) -> Verdict {
        bytes += more
        // An empty line may stand before the first.
        let text = bytes.drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        guard let first = text.first else { return bytes.count > Self.limit ? .own(bytes) : .undecided }
        // A record of TLS begins with its type, 22 for a handshake.
        if first == 0x16 { return .foreign }
        // A method of HTTP is a word; a JSON object, or a lone character, needs no line end.
        if !(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first & ~0x20) { return .own(bytes) }
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else {
            return text.count > Self.limit ? .tooLong : .undecided
        }
        let line = String(decoding: text[..<end], as: UTF8.self)
        let isHTTP = line.split(separator: " ").last?.hasPrefix("HTTP/") == true
        return isHTTP || line.hasPrefix("SSH-") ? .foreign : .own(bytes)
    }
}
