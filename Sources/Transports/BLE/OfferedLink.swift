internal import BlueZ
internal import DescriptorIO
internal import LineProtocol

/// The link to a central of a peripheral that this program offers.
final class OfferedLink: Link {
    let name: String
    let keepsPacketBounds: Bool
    let deviceAddress: String?
    private let inbox: ArrivalInbox
    private let outbox: OfferedOutbox
    private let loop: EventLoop

    init(to central: BluetoothAddress?, of peripheral: Peripheral, _ profile: GATTProfile, on loop: EventLoop) {
        deviceAddress = central.map { "\($0)" }
        name = "ble:" + (deviceAddress ?? "central")
        keepsPacketBounds = profile.keepsPacketBounds
        self.loop = loop
        inbox = ArrivalInbox(on: loop, name: name, keepsPacketBounds: profile.keepsPacketBounds)
        outbox = OfferedOutbox(to: central, of: peripheral, profile, name: name)
    }

    var maximumWriteLength: Int? { nil }
    var executor: any SerialExecutor & TaskExecutor { loop }

    func send(_ bytes: [UInt8]) async throws(LinkError) { try await outbox.send(bytes) }

    func receive() async throws(LinkError) -> [UInt8]? { try await inbox.receive() }

    func receiveAvailable() async throws(LinkError) -> [UInt8] { try await inbox.receiveAvailable() }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await inbox.forward(to: receiver)
    }

    func close() async {
        await outbox.end(BLEError(.closed, activity: "sending"))
        await inbox.finish(nil)
    }

    // MARK: The central

    /// Whether the central has subscribed. Use this property and the functions below it on the loop's thread only.
    var isSubscribed: Bool { outbox.assumeIsolated { $0.isSubscribed } }

    func subscribe() { outbox.assumeIsolated { $0.subscribe() } }

    /// Receives bytes that the central has written.
    func hear(_ bytes: [UInt8]) { inbox.assumeIsolated { $0.append(bytes) } }

    /// Ends the link after the central has left.
    func end() {
        outbox.assumeIsolated { $0.end(BLEError(.disconnected, activity: "sending")) }
        inbox.assumeIsolated { $0.finish(LinkError(.disconnected, name: name, activity: "receive")) }
    }
}
