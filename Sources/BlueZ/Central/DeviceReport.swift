internal import DBus

/// The facts about a device from its advertisements, and from bluetoothd's memory.
public struct DeviceReport: Sendable, Hashable {
    /// The address, which identifies the device.
    public let address: BluetoothAddress
    /// Whether the device keeps its address: a public or a static random address, not a private one.
    public let hasStableAddress: Bool
    /// The device's name; nil if unknown.
    public let name: String?
    /// The signal strength of the last advertisement in dBm; nil if no scan in progress has heard the device. Most
    /// devices do not advertise while they are connected.
    public let rssi: Int?
    /// The services that the device advertises, or that were discovered.
    public let services: [BluetoothUUID]
    /// The advertised manufacturer data, by company identifiers.
    public let manufacturerData: [UInt16: [UInt8]]
    /// Whether the device is connected to this computer.
    public let isConnected: Bool
    /// Whether the device is paired with this computer.
    public let isPaired: Bool
    /// Whether all services were discovered, according to bluetoothd. Only then can the services be used.
    public let areServicesResolved: Bool

    /// Whether the device is present, not only remembered.
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
