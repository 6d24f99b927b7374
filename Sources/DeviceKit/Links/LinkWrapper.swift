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
    /// The same as of the wrapped link: ``Link/deviceAddress``.
    public var deviceAddress: String? { link.deviceAddress }
    /// The same as of the wrapped link: ``Link/isDeviceAddressStable``.
    public var isDeviceAddressStable: Bool { link.isDeviceAddressStable }
    /// The same as of the wrapped link: ``Link/deviceID``.
    public var deviceID: String? { link.deviceID }
    /// The same as of the wrapped link: ``Link/sharedAddress``.
    public var sharedAddress: SharedDeviceAddress? { link.sharedAddress }
    /// The same as of the wrapped link: ``Link/openingNote``.
    public var openingNote: String? { link.openingNote }
    /// The same as of the wrapped link: ``Link/remark``.
    public var remark: String? { link.remark }
    /// The same as of the wrapped link: ``Link/silenceHint``.
    public var silenceHint: String? { link.silenceHint }
    /// The same as of the wrapped link: ``Link/mayHaveReset``.
    public var mayHaveReset: Bool { link.mayHaveReset }
    /// The same as of the wrapped link: ``Link/mayBeMidLine``.
    public var mayBeMidLine: Bool { link.mayBeMidLine }
    public var executor: any SerialExecutor & TaskExecutor { link.executor }

    /// Forwards to the wrapped link: ``Link/packetCapacity()``.
    public func packetCapacity() async -> Int? { await link.packetCapacity() }

    public func send(_ bytes: [UInt8]) async throws(LinkError) { try await link.send(bytes) }

    /// Forwards to the wrapped link: ``Link/sendAtOnce(_:)``.
    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { try link.sendAtOnce(bytes) }

    /// Forwards to the wrapped link: ``Link/sendBreak(for:)``.
    public func sendBreak(for duration: Duration) async throws(LinkError) { try await link.sendBreak(for: duration) }

    public func receive() async throws(LinkError) -> [UInt8]? { try await link.receive() }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] { try await link.receiveAvailable() }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward(to: receiver)
    }

    /// Forwards to the wrapped link: ``Link/confirmConnection()``.
    public func confirmConnection() async throws(LinkError) { try await link.confirmConnection() }

    /// Forwards to the wrapped link: ``Link/noteDoubt()``.
    public func noteDoubt() { link.noteDoubt() }

    public func close() async { await link.close() }
}
