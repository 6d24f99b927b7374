/// The greeting that a peer sends to a new subscriber: `HELLO from <host> @ <ISO 8601 time>`.
public struct PeerGreeting: Sendable, Hashable {
    /// The peer's name, unchanged.
    public var host: String
    /// The peer's time, unchanged.
    public var time: String

    /// Parses a greeting; nil for any other message.
    public init?(_ message: [UInt8]) {
        guard message.starts(with: "HELLO from ".utf8), let text = String(validating: message, as: UTF8.self) else {
            return nil
        }
        let rest = text.dropFirst("HELLO from ".count)
        // The last @ separates the name from the time: a name may contain any character, but a time contains no @.
        guard let at = rest.lastIndex(of: "@"), rest[..<at].hasSuffix(" "), rest[at...].hasPrefix("@ ") else {
            return nil
        }
        host = String(rest[..<at].dropLast())
        time = String(rest[at...].dropFirst(2))
        guard !host.isEmpty, !time.isEmpty else { return nil }
    }
}
