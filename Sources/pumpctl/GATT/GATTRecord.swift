import BlueZ
import DeviceKit
import LineProtocol
import Transports

/// How values are shown.
struct GATTFormat: Sendable {
    /// nil for hexadecimals, and text where that is printable.
    var type: GATTValueType?
    var isBigEndian: Bool

    /// The value as its type has it; nil where it is none of the type, or no type was named.
    func content(of bytes: [UInt8]) -> GATTContent? { type?.content(of: bytes, isBigEndian: isBigEndian) }

    /// A value for people.
    func phrase(_ bytes: [UInt8]) -> String {
        if let content = content(of: bytes) { return content.text }
        let text = bytes.printableText.map { "  \"\($0)\"" } ?? ""
        return bytes.isEmpty ? "(empty)" : bytes.hexadecimal + text
    }
}

/// A characteristic, and what became of its value, as programs are told of them.
struct GATTRecord: Encodable {
    /// Which keys there are.
    enum Kind {
        case listing
        case value([UInt8], GATTFormat)
        case notification([UInt8], GATTFormat, time: WallTime)
        case written([UInt8], isConfirmed: Bool)
    }

    var service: BluetoothUUID
    /// nil for a service that has none.
    var characteristic: GATTCharacteristic?
    var kind: Kind

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
        try container.encode(characteristic?.knownName, forKey: .name)
        switch kind {
        case .listing:
            try container.encode(ServiceName.known(service), forKey: .serviceName)
            try container.encode(characteristic?.flagWords ?? [], forKey: .flags)
            try container.encode(characteristic?.descriptors.map { "\($0)" } ?? [], forKey: .descriptors)
        case .value(let bytes, let format): try encode(bytes, format, &container)
        case .notification(let bytes, let format, let time):
            try encode(bytes, format, &container)
            try container.encode(time.iso8601, forKey: .time)
        case .written(let bytes, let isConfirmed):
            try encode(bytes, nil, &container)
            try container.encode(true, forKey: .ok)
            try container.encode(isConfirmed, forKey: .confirmed)
        }
    }

    private func encode(
        _ bytes: [UInt8], _ format: GATTFormat?, _ container: inout KeyedEncodingContainer<CodingKeys>
    ) throws {
        try container.encode(bytes.hexadecimal, forKey: .hex)
        try container.encode(bytes.printableText, forKey: .text)
        guard let format else { return }
        try container.encode(format.type?.rawValue, forKey: .type)
        try container.encode(format.content(of: bytes), forKey: .value)
    }
}

extension [UInt8] {
    /// The bytes as text, where all of it is printable and there is some.
    fileprivate var printableText: String? {
        guard !isEmpty, let text = String(validating: self, as: UTF8.self), text.printable() == text else { return nil }
        return text
    }
}
