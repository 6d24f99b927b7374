internal import LineProtocol
internal import Synchronization

/// A second user of an open link, on which a session can run while the first user goes on. The first user passes each
/// arrival to ``take(_:)``, and only ``forward(to:)`` delivers it: ``receive()`` returns nil at once. Closing the tap
/// leaves the link open.
final class LinkTap: Link {
    private let link: any Link
    private let receiver = Mutex<(@Sendable (LinkArrival) -> Void)?>(nil)

    init(_ link: any Link) { self.link = link }

    var name: String { link.name }
    var keepsPacketBounds: Bool { link.keepsPacketBounds }
    var maximumWriteLength: Int? { link.maximumWriteLength }
    var executor: any SerialExecutor & TaskExecutor { link.executor }

    func packetCapacity() async -> Int? { await link.packetCapacity() }
    func send(_ bytes: [UInt8]) async throws(LinkError) { try await link.send(bytes) }
    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { try link.sendAtOnce(bytes) }
    func receive() async throws(LinkError) -> [UInt8]? { nil }
    func receiveAvailable() async throws(LinkError) -> [UInt8] { [] }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        self.receiver.withLock { $0 = receiver }
    }

    /// Passes an arrival on the link to the tap's receiver.
    func take(_ arrival: LinkArrival) { receiver.withLock { $0 }?(arrival) }

    func close() async { receiver.withLock { $0 = nil } }
}
