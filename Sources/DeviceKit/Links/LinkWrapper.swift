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
    /// The `Link.deviceAddress` of the wrapped link.
    public var deviceAddress: String? { link.deviceAddress }
    /// The `Link.isDeviceAddressStable` of the wrapped link.
    public var isDeviceAddressStable: Bool { link.isDeviceAddressStable }
    /// The `Link.deviceID` of the wrapped link.
    public var deviceID: String? { link.deviceID }
    /// The `Link.sharedAddress` of the wrapped link.
    public var sharedAddress: SharedDeviceAddress? { link.sharedAddress }
    /// The `Link.openingNote` of the wrapped link.
    public var openingNote: String? { link.openingNote }
    /// The `Link.remark` of the wrapped link.
    public var remark: String? { link.remark }
    /// The `Link.silenceHint` of the wrapped link.
    public var silenceHint: String? { link.silenceHint }
    /// The `Link.mayHaveReset` of the wrapped link.
    public var mayHaveReset: Bool { link.mayHaveReset }
    /// The `Link.mayBeMidLine` of the wrapped link.
    public var mayBeMidLine: Bool { link.mayBeMidLine }
    public var executor: any SerialExecutor & TaskExecutor { link.executor }

    /// Calls `Link.packetCapacity()` of the wrapped link.
    public func packetCapacity() async -> Int? { await link.packetCapacity() }

    /// Calls `Link.signalStrength()` of the wrapped link.
    public func signalStrength() async -> Int? { await link.signalStrength() }

    public func send(_ bytes: [UInt8]) async throws(LinkError) { try await link.send(bytes) }

    /// Calls `Link.sendAtOnce(_:)` of the wrapped link.
    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { try link.sendAtOnce(bytes) }

    /// Calls `Link.sendBreak(for:)` of the wrapped link.
    public func sendBreak(for duration: Duration) async throws(LinkError) { try await link.sendBreak(for: duration) }

    public func receive() async throws(LinkError) -> [UInt8]? { try await link.receive() }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] { try await link.receiveAvailable() }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward(to: receiver)
    }

    /// Calls `Link.confirmConnection()` of the wrapped link.
    public func confirmConnection() async throws(LinkError) { try await link.confirmConnection() }

    /// Calls `Link.noteDoubt()` of the wrapped link.
    public func noteDoubt() { link.noteDoubt() }

    public func close() async { await link.close() }
}
