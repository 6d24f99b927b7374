/// A characteristic of a device in reach.
///
/// By default it holds a value for reading and writing.
@Radio
public final class RadioCharacteristic {
    /// An operation that the characteristic supports, spelled as in `Flags`.
    public enum Flag: String, Sendable, Hashable, CaseIterable {
        case broadcast, read
        case writeWithoutResponse = "write-without-response"
        case write, notify, indicate
        case signedWrites = "authenticated-signed-writes"
        case extendedProperties = "extended-properties"
        case reliableWrite = "reliable-write"
        case writableAuxiliaries = "writable-auxiliaries"
    }

    /// A central's request.
    public struct Request: Sendable {
        public let link: RadioLink
        public var offset = 0
        /// Whether the central expects a response to a write.
        public var wantsAnswer = true
        /// Whether the written value is longer than the link's payload, so that the central sends it in several parts.
        /// The handler gets the whole value.
        public var isLong = false
    }

    /// The UUID: 128 bits, lower case.
    public let uuid: String
    public let flags: [Flag]
    public let descriptors: [RadioDescriptor]
    public var value: [UInt8]
    /// Handles a central's read; nil to return ``value``. An error of the handler is bluetoothd's reply to the client.
    public var onRead: (@Radio (Request) async throws -> [UInt8])?
    /// Handles a central's write; nil to set ``value``. An error of the handler is bluetoothd's reply to the client.
    public var onWrite: (@Radio ([UInt8], Request) async throws -> Void)?
    /// Called with true when a central subscribes, before the reply, and with false when it unsubscribes or its link
    /// ends. An error refuses the subscription.
    public var onSubscription: (@Radio (RadioLink, Bool) async throws -> Void)?
    /// Whether access requires pairing.
    public var needsPairing = false
    weak var device: RadioDevice?

    public init(_ uuid: String, _ flags: [Flag], value: [UInt8] = [], descriptors: [RadioDescriptor] = []) {
        self.uuid = longUUID(uuid)
        self.flags = flags
        self.value = value
        self.descriptors = descriptors
    }

    /// Notifies every subscribed central, truncated to the payload of each link.
    public func notify(_ bytes: [UInt8]) {
        guard let device else { return }
        for link in device.links where link.isSubscribed(to: self) { link.deliver(bytes, from: self) }
    }
}

/// A descriptor of a characteristic.
@Radio
public final class RadioDescriptor {
    public let uuid: String
    public var value: [UInt8]

    public init(_ uuid: String, value: [UInt8]) {
        self.uuid = longUUID(uuid)
        self.value = value
    }
}

/// A service of a device in reach.
@Radio
public final class RadioService {
    public let uuid: String
    public let isPrimary: Bool
    public let characteristics: [RadioCharacteristic]

    public init(_ uuid: String, isPrimary: Bool = true, _ characteristics: [RadioCharacteristic]) {
        self.uuid = longUUID(uuid)
        self.isPrimary = isPrimary
        self.characteristics = characteristics
    }
}
