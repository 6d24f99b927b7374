/// The advertised data of a device.
public struct Advertisement: Sendable, Hashable {
    public var name: String?
    /// The service UUIDs, 128 bits each.
    public var services: [String]
    /// Data by company number.
    public var manufacturerData: [UInt16: [UInt8]]
    /// Data by service UUID.
    public var serviceData: [String: [UInt8]]
    public var appearance: UInt16?
    /// The transmit power in dBm.
    public var txPower: Int16?

    public init(
        name: String? = nil, services: [String] = [], manufacturerData: [UInt16: [UInt8]] = [:],
        serviceData: [String: [UInt8]] = [:], appearance: UInt16? = nil, txPower: Int16? = nil
    ) {
        self.name = name
        self.services = services.map(longUUID)
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
        self.appearance = appearance
        self.txPower = txPower
    }
}

/// A UUID as bluetoothd shows it: 128 bits, lower case. A shorter UUID is completed with Bluetooth's base UUID.
func longUUID(_ text: String) -> String {
    let text = text.lowercased()
    guard text.utf8.count <= 8 else { return text }
    return String(repeating: "0", count: 8 - text.utf8.count) + text + "-0000-1000-8000-00805f9b34fb"
}
