internal import DBus

/// An advertisement that a client has registered.
struct RegisteredAdvertisement {
    let client: String
    let path: ObjectPath
    let content: Advertisement
    let isConnectable: Bool
    /// Whether the advertisement is sent. The controller may have dropped a registered one.
    var isOnAir = true

    /// The capacity in bytes of legacy advertising: of the advertisement, and again of the scan response, which holds
    /// the name.
    static let capacity = 31

    /// - Throws: `Failed` if the content is too long or can't be read.
    init(
        of client: String, at path: ObjectPath, _ properties: [String: DBusValue], alias: String
    ) throws(DBusError) {
        let failure = BlueZError.failed("Failed to parse advertisement.")
        guard let type = properties["Type"]?.string, ["peripheral", "broadcast"].contains(type) else { throw failure }
        self.client = client
        self.path = path
        isConnectable = type == "peripheral"
        let includes = properties["Includes"]?.strings ?? []
        let services = properties["ServiceUUIDs"]?.strings ?? []
        let name = properties["LocalName"]?.string ?? (includes.contains("local-name") ? alias : nil)
        var manufacturerData: [UInt16: [UInt8]] = [:]
        for entry in properties["ManufacturerData"]?.dictionary?.entries ?? [] {
            guard let company = entry.key.uint16, let bytes = entry.value.bytes else { throw failure }
            manufacturerData[company] = bytes
        }
        var serviceData: [String: [UInt8]] = [:]
        for (uuid, value) in properties["ServiceData"]?.properties ?? [:] {
            guard let bytes = value.bytes else { throw failure }
            serviceData[uuid] = bytes
        }
        // Each part has a byte for its length, a byte for its type, and data. A connectable advertisement has a part
        // for flags, of 3 bytes. Services of the same UUID width share one part.
        var length = isConnectable ? 3 : 0
        for group in Dictionary(grouping: services, by: Self.width).values {
            length += 2 + group.reduce(0) { $0 + Self.width(of: $1) }
        }
        for data in manufacturerData.values { length += 4 + data.count }
        for (uuid, data) in serviceData { length += 2 + Self.width(of: uuid) + data.count }
        guard length <= Self.capacity, 2 + (name?.utf8.count ?? 0) <= Self.capacity else { throw failure }
        content = Advertisement(
            name: name, services: services, manufacturerData: manufacturerData, serviceData: serviceData,
            appearance: properties["Appearance"]?.uint16)
    }

    /// The size of a UUID in bytes in an advertisement: UUIDs on Bluetooth's base UUID are shortened.
    private static func width(of uuid: String) -> Int {
        let long = longUUID(uuid)
        guard long.hasSuffix("-0000-1000-8000-00805f9b34fb") else { return 16 }
        return long.hasPrefix("0000") ? 2 : 4
    }
}
