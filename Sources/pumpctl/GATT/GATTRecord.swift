import BlueZ
import DeviceKit
import Transports

/// A characteristic as it is listed, as programs are told of it.
struct GATTListing: Encodable {
    var service: BluetoothUUID
    /// nil for a service that has none.
    var characteristic: GATTCharacteristic?

    private enum CodingKeys: String, CodingKey {
        case service, characteristic, handle, name, flags, descriptors
        case serviceName = "service_name"
    }

    /// All keys are there always; what is unknown is null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(service)", forKey: .service)
        try container.encode(characteristic.map { "\($0.uuid)" }, forKey: .characteristic)
        try container.encode(characteristic?.handle, forKey: .handle)
        try container.encode(characteristic?.knownName, forKey: .name)
        try container.encode(ServiceName.known(service), forKey: .serviceName)
        try container.encode(characteristic?.flagWords ?? [], forKey: .flags)
        try container.encode(characteristic?.descriptors.map { "\($0)" } ?? [], forKey: .descriptors)
    }
}

/// A value that was written, as programs are told of it.
struct GATTWritten: Encodable {
    var value: GATTReading
    var isConfirmed: Bool

    private enum CodingKeys: CodingKey { case ok, confirmed }

    func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(true, forKey: .ok)
        try container.encode(isConfirmed, forKey: .confirmed)
    }
}
