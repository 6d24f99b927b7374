public import LineProtocol

/// A link that changes one aspect of another link and forwards everything else.
///
/// Links are wrapped to trace, to record, or to report discoveries:
///
/// ```swift
/// let link = TracedLink(try await LinkSchemes.families.open(endpoint)) { print($0) }
/// ```
public protocol LinkWrapper: Link {
    /// The wrapped link.
    var link: any Link { get }
}

extension LinkWrapper {
    public var name: String { link.name }
    public var keepsPacketBounds: Bool { link.keepsPacketBounds }
    public var maximumWriteLength: Int? { link.maximumWriteLength }
    public var deviceAddress: String? { link.deviceAddress }
    public var isDeviceAddressStable: Bool { link.isDeviceAddressStable }
    public var deviceID: String? { link.deviceID }
    public var sharedAddress: SharedDeviceAddress? { link.sharedAddress }
    public var openingNote: String? { link.openingNote }
    public var remark: String? { link.remark }
    public var silenceHint: String? { link.silenceHint }
    public var mayHaveReset: Bool { link.mayHaveReset }
    public var mayBeMidLine: Bool { link.mayBeMidLine }
    public var executor: any SerialExecutor & TaskExecutor { link.executor }

    public func packetCapacity() async -> Int? { await link.packetCapacity() }

    public func send(_ bytes: [UInt8]) async throws(LinkError) { try await link.send(bytes) }

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { try link.sendAtOnce(bytes) }

    public func sendBreak(for duration: Duration) async throws(LinkError) { try await link.sendBreak(for: duration) }

    public func receive() async throws(LinkError) -> [UInt8]? { try await link.receive() }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] { try await link.receiveAvailable() }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward(to: receiver)
    }

    public func confirmConnection() async throws(LinkError) { try await link.confirmConnection() }

    public func noteDoubt() { link.noteDoubt() }

    public func close() async { await link.close() }
}
