import LineProtocol

/// A link that does one thing of another link differently, and passes the rest on.
protocol LinkWrapper: Link {
    var link: any Link { get }
}

extension LinkWrapper {
    var name: String { link.name }
    var keepsPacketBounds: Bool { link.keepsPacketBounds }
    var maximumWriteLength: Int? { link.maximumWriteLength }
    var deviceAddress: String? { link.deviceAddress }
    var isDeviceAddressStable: Bool { link.isDeviceAddressStable }
    var deviceID: String? { link.deviceID }
    var openingNote: String? { link.openingNote }
    var remark: String? { link.remark }
    var silenceHint: String? { link.silenceHint }
    var mayHaveReset: Bool { link.mayHaveReset }
    var mayBeMidLine: Bool { link.mayBeMidLine }
    var executor: any SerialExecutor & TaskExecutor { link.executor }

    func packetCapacity() async -> Int? { await link.packetCapacity() }

    func send(_ bytes: [UInt8]) async throws(LinkError) { try await link.send(bytes) }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { try link.sendAtOnce(bytes) }

    func sendBreak(for duration: Duration) async throws(LinkError) { try await link.sendBreak(for: duration) }

    func receive() async throws(LinkError) -> [UInt8]? { try await link.receive() }

    func receiveAvailable() async throws(LinkError) -> [UInt8] { try await link.receiveAvailable() }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async { await link.forward(to: receiver) }

    func confirmConnection() async throws(LinkError) { try await link.confirmConnection() }

    func close() async { await link.close() }
}
