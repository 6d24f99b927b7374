internal import Synchronization

/// The Telnet filter for the bytes that a link receives, for use on any thread.
final class TelnetInput: Sendable {
    private let filter = Mutex(TelnetFilter())

    /// A remark about the server, for people; nil unless the stream has turned out to be Telnet.
    var remark: String? {
        filter.withLock { $0.isTelnet }
            ? "this is a Telnet server, and its negotiation was removed: use its raw port, or switch the server to raw mode"
            : nil
    }

    /// Returns the data in the next bytes; empty if there is none.
    func take(_ bytes: [UInt8]) -> [UInt8] { filter.withLock { $0.take(bytes) } }

    /// Ends the stream. Returns the byte that was held back; empty if there is none.
    func finish() -> [UInt8] { filter.withLock { $0.finish() } }
}
