internal import Synchronization

/// Gathers what a device answers, up to a limit.
final class ControlReply: Sendable {
    /// The most bytes that are kept. Escaped in JSON they may be six times as many, which ``LineClient`` has room for.
    static let limit = 1 << 13

    private let gathered = Mutex<[UInt8]?>([])

    /// What was answered; nil where that was more than the limit.
    var bytes: [UInt8]? { gathered.withLock(\.self) }

    func append(_ more: [UInt8]) {
        gathered.withLock { bytes in
            bytes = bytes.flatMap { $0.count + more.count > Self.limit ? nil : $0 + more }
        }
    }
}
