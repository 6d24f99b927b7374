import BlueZ
import DeviceKit

/// A BLE device as programs are told of it.
struct ScanRecord: Encodable {
    /// What happened to it, where devices are watched.
    var event: ScanChange?
    var device: ScannedDevice

    enum CodingKeys: String, CodingKey {
        case event, address, name, services, family, connected
        case rssi = "rssi_dbm"
        case possibleFamily = "possible_family"
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
        try container.encode(device.fit.possible, forKey: .possibleFamily)
        try container.encode(device.isConnected, forKey: .connected)
    }
}

/// What can happen to a device that is watched.
enum ScanChange: String {
    case found, changed, lost

    /// What stands before its line.
    var sign: String {
        switch self {
        case .found: "+"
        case .changed: "~"
        case .lost: "-"
        }
    }
}
