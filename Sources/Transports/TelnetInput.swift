internal import Synchronization

/// What a link receives from a server that may speak Telnet.
final class TelnetInput: Sendable {
    private let filter = Mutex(TelnetFilter())

    /// What a person should know of the server; nil while nothing says that it speaks Telnet.
    var remark: String? {
        filter.withLock { $0.isTelnet }
            ? "this is a Telnet server, and its negotiation was left out: use its raw port, or switch the server to raw mode"
            : nil
    }

    /// The data in the next bytes; none where they are all negotiation.
    func take(_ bytes: [UInt8]) -> [UInt8] { filter.withLock { $0.take(bytes) } }

    /// What was held back, once nothing more will come.
    func finish() -> [UInt8] { filter.withLock { $0.finish() } }
}
