/// What a device says on the air to whoever listens.
public struct Advertisement: Sendable, Hashable {
    public var name: String?
    /// Services, by their UUIDs of 128 bits.
    public var services: [String]
    /// By the company's number.
    public var manufacturerData: [UInt16: [UInt8]]
    /// By the service's UUID.
    public var serviceData: [String: [UInt8]]
    public var appearance: UInt16?
    /// In dBm.
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

/// A UUID in the form that bluetoothd shows: 128 bits, lower case. Shorter ones stand for a part of Bluetooth's base UUID.
func longUUID(_ text: String) -> String {
    let text = text.lowercased()
    guard text.utf8.count <= 8 else { return text }
    return String(repeating: "0", count: 8 - text.utf8.count) + text + "-0000-1000-8000-00805f9b34fb"
}
