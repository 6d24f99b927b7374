import BlueZ
import DeviceKit

/// A BLE device as programs are told of it.
struct ScanRecord: Encodable {
    /// What happened to it, where devices are watched.
    var event: DeviceChange?
    var device: ScannedDevice

    enum CodingKeys: String, CodingKey {
        case event, address, name, services, family, connected
        case rssi = "rssi_dbm"
        case possibleFamily = "possible_family"
        case possibleFamilies = "possible_families"
    }

    /// All keys are there always; what is unknown is null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(event?.rawValue, forKey: .event)
        try container.encode(device.address.description, forKey: .address)
        try container.encode(device.name, forKey: .name)
        try container.encode(device.rssi, forKey: .rssi)
        try container.encode(device.services.map(\.description), forKey: .services)
        try container.encode(device.fit.certain, forKey: .family)
        try container.encode(device.fit.possible.first, forKey: .possibleFamily)
        try container.encode(device.fit.possible, forKey: .possibleFamilies)
        try container.encode(device.isConnected, forKey: .connected)
    }
}

extension DeviceChange {
    /// What stands before its line.
    var sign: String {
        switch self {
        case .found: "+"
        case .changed: "~"
        case .lost: "-"
        }
    }
}

extension FamilyFit {
    /// The likeliest family, with a question mark where it is not certain; nil where none is known.
    var name: String? { families.first.map { isCertain ? $0 : "\($0)?" } }
}
