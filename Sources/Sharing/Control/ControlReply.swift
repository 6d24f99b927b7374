internal import Synchronization

/// Collects a device's reply, up to a limit.
final class ControlReply: Sendable {
    /// The maximum number of bytes. As escaped JSON they may take six times as many, for which ``LineClient`` has room.
    static let limit = 1 << 13

    private let gathered = Mutex<[UInt8]?>([])

    /// The reply so far; nil if the reply exceeded the limit.
    var bytes: [UInt8]? { gathered.withLock(\.self) }

    func append(_ more: [UInt8]) {
        gathered.withLock { bytes in
            bytes = bytes.flatMap { $0.count + more.count > Self.limit ? nil : $0 + more }
        }
    }
}
