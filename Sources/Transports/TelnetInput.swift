internal import Synchronization

/// The Telnet filter for the bytes that a link receives, for use on any thread.
final class TelnetInput: Sendable {
    private let filter = Mutex(TelnetFilter())

    /// A remark for people on the server; nil unless the server speaks Telnet.
    var remark: String? {
        filter.withLock { $0.isTelnet }
            ? "this is a Telnet server, and its negotiation was removed: use its raw port, or switch the server to raw mode"
            : nil
    }

    /// Returns the data in the next bytes; empty if they are all negotiation.
    func take(_ bytes: [UInt8]) -> [UInt8] { filter.withLock { $0.take(bytes) } }

    /// Returns the byte that was held back, at the end of the stream.
    func finish() -> [UInt8] { filter.withLock { $0.finish() } }
}
