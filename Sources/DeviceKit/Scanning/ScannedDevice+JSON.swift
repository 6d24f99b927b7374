internal import BlueZ

extension ScannedDevice: Encodable {
    private enum CodingKeys: String, CodingKey {
        case address, name, services, family, connected
        case rssi = "rssi_dbm"
        case possibleFamily = "possible_family"
        case possibleFamilies = "possible_families"
    }

    /// Encodes an object that always has the keys `address`, `name`, `rssi_dbm`, `services` (UUIDs), `family`,
    /// `possible_family` (the most likely), `possible_families` (all) and `connected`. Unknown values are null. If the
    /// family is certain, no possible families are listed; otherwise `family` is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(address.description, forKey: .address)
        try container.encode(name, forKey: .name)
        try container.encode(rssi, forKey: .rssi)
        try container.encode(services.map(\.description), forKey: .services)
        try container.encode(fit.certain, forKey: .family)
        try container.encode(fit.possible.first, forKey: .possibleFamily)
        try container.encode(fit.possible, forKey: .possibleFamilies)
        try container.encode(isConnected, forKey: .connected)
    }
}
