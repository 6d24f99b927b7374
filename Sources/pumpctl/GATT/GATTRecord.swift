import BlueZ
import DeviceKit
import LineProtocol

/// How values are shown.
struct GATTFormat: Sendable {
    /// nil for hexadecimals, and text where that is printable.
    var type: GATTValueType?
    var isBigEndian: Bool

    /// A value for people.
    func phrase(_ bytes: [UInt8]) -> String {
        if let type, let value = type.value(of: bytes, isBigEndian: isBigEndian) { return value.phrase }
        let text = bytes.printableText.map { "  \"\($0)\"" } ?? ""
        return bytes.isEmpty ? "(empty)" : bytes.hexadecimal + text
    }
}

/// A characteristic, and what became of its value, as programs are told of them.
struct GATTRecord: Encodable {
    /// Which keys there are.
    private enum Kind {
        case listing, value, notification, written
    }

    private let kind: Kind
    private let service: BluetoothUUID
    private let characteristic: GATTCharacteristic?
    private var bytes: [UInt8] = []
    private var type: GATTValueType?
    /// The value as its type has it; nil where it is none of the type, or no type was named.
    private(set) var value: GATTValue?
    private var time: String?
    private var isConfirmed = false

    /// A characteristic as it is listed.
    init(listing characteristic: GATTCharacteristic) {
        kind = .listing
        service = characteristic.service
        self.characteristic = characteristic
    }

    /// A service that has no characteristics.
    init(emptyService service: BluetoothUUID) {
        kind = .listing
        self.service = service
        characteristic = nil
    }

    /// A value that was read, or with a time notified.
    init(_ bytes: [UInt8], of characteristic: GATTCharacteristic, _ format: GATTFormat, at time: WallTime? = nil) {
        kind = time == nil ? .value : .notification
        service = characteristic.service
        self.characteristic = characteristic
        self.bytes = bytes
        type = format.type
        value = format.type?.value(of: bytes, isBigEndian: format.isBigEndian)
        self.time = time?.iso8601
    }

    /// A value that was written.
    init(written bytes: [UInt8], to characteristic: GATTCharacteristic, isConfirmed: Bool) {
        kind = .written
        service = characteristic.service
        self.characteristic = characteristic
        self.bytes = bytes
        self.isConfirmed = isConfirmed
    }

    private enum CodingKeys: String, CodingKey {
        case ok, time, service, characteristic, handle, name, flags, descriptors, hex, text, type, value, confirmed
        case serviceName = "service_name"
    }

    /// All keys of a kind are there always; what is unknown is null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(service)", forKey: .service)
        try container.encode(characteristic.map { "\($0.uuid)" }, forKey: .characteristic)
        try container.encode(characteristic?.handle, forKey: .handle)
        try container.encode(characteristic.flatMap { CharacteristicName.known($0.uuid) }, forKey: .name)
        if kind == .listing {
            try container.encode(ServiceName.known(service), forKey: .serviceName)
            try container.encode(characteristic?.flagWords ?? [], forKey: .flags)
            try container.encode(characteristic?.descriptors.map { "\($0)" } ?? [], forKey: .descriptors)
            return
        }
        try container.encode(bytes.hexadecimal, forKey: .hex)
        try container.encode(bytes.printableText, forKey: .text)
        if kind == .written {
            try container.encode(true, forKey: .ok)
            try container.encode(isConfirmed, forKey: .confirmed)
            return
        }
        try container.encode(type?.rawValue, forKey: .type)
        try container.encode(value, forKey: .value)
        if kind == .notification { try container.encode(time, forKey: .time) }
    }
}

extension [UInt8] {
    /// The bytes as text, where all of it is printable and there is some.
    fileprivate var printableText: String? {
        guard !isEmpty, let text = String(validating: self, as: UTF8.self), text.printable() == text else { return nil }
        return text
    }
}
