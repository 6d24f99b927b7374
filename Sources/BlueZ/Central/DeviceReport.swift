internal import DBus

/// What is known of a device from its advertisements, and from what bluetoothd remembers.
public struct DeviceReport: Sendable, Hashable {
    /// What it is known by.
    public let address: BluetoothAddress
    /// Whether it keeps this address: a public or a static random one, and not a private one.
    public let hasStableAddress: Bool
    /// What it calls itself; nil where it has not said.
    public let name: String?
    /// How strongly it was last heard, in dBm; nil where it is connected, or was not heard since somebody began to scan.
    public let rssi: Int?
    /// The services that it advertises, or was found to have.
    public let services: [BluetoothUUID]
    /// What it advertises of makers, by their company numbers.
    public let manufacturerData: [UInt16: [UInt8]]
    public let isConnected: Bool
    public let isPaired: Bool
    /// Whether all that it has was found out; only then its services can be used.
    public let areServicesResolved: Bool

    /// Whether it is there now, and not only remembered.
    public var isInSight: Bool { rssi != nil || isConnected }

    init?(_ properties: ObjectMirror.Properties) {
        guard let address = properties["Address"]?.string.flatMap({ BluetoothAddress($0) }) else { return nil }
        self.address = address
        hasStableAddress =
            switch properties["AddressType"]?.string {
            case "public": true
            case "random": address.isStaticIfRandom
            default: false
            }
        name = properties["Name"]?.string
        rssi = properties["RSSI"]?.int16.map { Int($0) }
        services = (properties["UUIDs"]?.strings ?? []).compactMap { BluetoothUUID($0) }
        var makers: [UInt16: [UInt8]] = [:]
        for entry in properties["ManufacturerData"]?.dictionary?.entries ?? [] {
            if let company = entry.key.uint16 { makers[company] = entry.value.bytes }
        }
        manufacturerData = makers
        isConnected = properties["Connected"]?.boolean ?? false
        isPaired = properties["Paired"]?.boolean ?? false
        areServicesResolved = properties["ServicesResolved"]?.boolean ?? false
    }
}
