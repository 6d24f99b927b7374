internal import DBus

/// Which devices a scan tells of: those of which all that is named here is so.
public struct ScanFilter: Sendable, Hashable {
    /// At least one of these services is advertised; empty for any.
    public var services: Set<BluetoothUUID>
    /// The whole name.
    public var name: String?
    public var address: BluetoothAddress?
    /// The least strength, in dBm.
    public var minimumRSSI: Int?

    public init(
        services: Set<BluetoothUUID> = [], name: String? = nil, address: BluetoothAddress? = nil,
        minimumRSSI: Int? = nil
    ) {
        self.services = services
        self.name = name
        self.address = address
        self.minimumRSSI = minimumRSSI
    }

    /// Whether a device fits. bluetoothd merges the filters of all its clients, so what it tells of need not.
    public func fits(_ report: DeviceReport) -> Bool {
        if !services.isEmpty, services.isDisjoint(with: report.services) { return false }
        if let name, report.name != name { return false }
        if let address, report.address != address { return false }
        if let minimumRSSI, let rssi = report.rssi, rssi < minimumRSSI { return false }
        return true
    }

    /// What lets through all that any of several filters lets through, as bluetoothd takes it.
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

/// What a scan has to tell.
public enum ScanEvent: Sendable, Hashable {
    /// A device is there that fits.
    case found(DeviceReport)
    /// Something is new about it.
    case changed(DeviceReport)
    /// It was not heard for a while, 30 s as bluetoothd has it.
    case lost(BluetoothAddress)
}
