internal import DBus

/// The conditions for devices in a scan. A device matches if it meets all conditions that are set.
public struct ScanFilter: Sendable, Hashable {
    /// Services, of which the device must have at least one; empty for any.
    public var services: Set<BluetoothUUID>
    /// The full name; nil for any.
    public var name: String?
    /// The address; nil for any.
    public var address: BluetoothAddress?
    /// The minimum signal strength in dBm; nil for any. A device whose signal strength is unknown matches.
    public var minimumRSSI: Int?

    /// Creates a filter.
    public init(
        services: Set<BluetoothUUID> = [], name: String? = nil, address: BluetoothAddress? = nil,
        minimumRSSI: Int? = nil
    ) {
        self.services = services
        self.name = name
        self.address = address
        self.minimumRSSI = minimumRSSI
    }

    /// Whether a device matches. bluetoothd merges the filters of all its clients, so it also reports other devices.
    public func fits(_ report: DeviceReport) -> Bool {
        if !services.isEmpty, services.isDisjoint(with: report.services) { return false }
        if let name, report.name != name { return false }
        if let address, report.address != address { return false }
        if let minimumRSSI, let rssi = report.rssi, rssi < minimumRSSI { return false }
        return true
    }

    /// Returns the discovery filter for bluetoothd that passes all devices that any of the filters passes. The names
    /// and addresses are not part of it. Without `DuplicateData`, bluetoothd signals manufacturer data only when it
    /// changes.
    static func merged(_ filters: some Collection<ScanFilter>) -> [String: DBusValue] {
        var properties: [String: DBusValue] = ["Transport": .string("le"), "DuplicateData": .boolean(false)]
        if filters.allSatisfy({ !$0.services.isEmpty }) {
            let services = filters.reduce(into: Set<BluetoothUUID>()) { $0.formUnion($1.services) }
            properties["UUIDs"] = .strings(services.map(\.text).sorted())
        }
        let strengths = filters.compactMap(\.minimumRSSI)
        if let least = strengths.min(), strengths.count == filters.count {
            properties["RSSI"] = .int16(Int16(clamping: least))
        }
        return properties
    }
}

/// An event of a scan.
public enum ScanEvent: Sendable, Hashable {
    /// A matching device came in sight, or was in sight when the scan began.
    case found(DeviceReport)
    /// The report on a found device has changed.
    case changed(DeviceReport)
    /// bluetoothd has removed a found device, by default after 30 s without an advertisement.
    case lost(BluetoothAddress)
}
