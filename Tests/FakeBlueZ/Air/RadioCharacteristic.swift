/// A characteristic of a device on the air.
///
/// Unless it is told otherwise it is a value that is read and written.
@Radio
public final class RadioCharacteristic {
    /// What may be done with it, in the words of `Flags`.
    public enum Flag: String, Sendable, Hashable, CaseIterable {
        case broadcast, read
        case writeWithoutResponse = "write-without-response"
        case write, notify, indicate
        case signedWrites = "authenticated-signed-writes"
        case extendedProperties = "extended-properties"
        case reliableWrite = "reliable-write"
        case writableAuxiliaries = "writable-auxiliaries"
    }

    /// What a central asks for.
    public struct Request: Sendable {
        public let link: RadioLink
        public var offset = 0
        /// Whether an answer is wanted; of a write.
        public var wantsAnswer = true
        /// Whether it comes in parts; of a write.
        public var isLong = false
    }

    /// A UUID of 128 bits, in lower case.
    public let uuid: String
    public let flags: [Flag]
    public let descriptors: [RadioDescriptor]
    public var value: [UInt8]
    /// Answers a central that reads; nil for the value. What it throws is what bluetoothd answers.
    public var onRead: (@Radio (Request) async throws -> [UInt8])?
    /// Takes what a central writes; nil for the value.
    public var onWrite: (@Radio ([UInt8], Request) async throws -> Void)?
    /// Told that a central subscribes, before it is answered, and that it does not want any more.
    public var onSubscription: (@Radio (RadioLink, Bool) async throws -> Void)?
    /// Whether it is for paired devices only.
    public var needsPairing = false
    weak var device: RadioDevice?

    public init(_ uuid: String, _ flags: [Flag], value: [UInt8] = [], descriptors: [RadioDescriptor] = []) {
        self.uuid = longUUID(uuid)
        self.flags = flags
        self.value = value
        self.descriptors = descriptors
    }

    /// Says something to every central that has subscribed, cut to what fits each one's link.
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

/// A service of a device on the air.
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
