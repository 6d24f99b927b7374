import BlueZ
import DeviceKit
import LineProtocol
import Terminal

/// The text form of BLE devices.
enum ScanTable {
    /// Returns a table with a row for each device. If it is too wide, services and names are cut, and then services and
    /// families are left out. The address is never cut, because it distinguishes devices of the same name.
    static func table(_ devices: [ScannedDevice]) -> TextTable {
        TextTable(
            [
                .init("NAME", least: 8), "ADDRESS", "SIGNAL", .init("FAMILY", rank: 1),
                .init("SERVICES", least: 10, rank: 1),
            ], devices.map(cells))
    }

    /// Returns a line for a change of a device.
    static func line(_ change: DeviceChange, _ device: ScannedDevice) -> String {
        ([change.sign] + cells(device).filter { $0 != "-" }).joined(separator: "  ")
    }

    private static func cells(_ device: ScannedDevice) -> [String] {
        let services = ServiceName.list(device.services)
        return [
            device.name.map(quoted) ?? "-", device.address.description, signal(device), device.fit.name ?? "-",
            services.isEmpty ? "-" : services,
        ]
    }

    private static func signal(_ device: ScannedDevice) -> String {
        device.rssi.map { "\($0) dBm" } ?? (device.isConnected ? "connected" : "-")
    }

    /// Returns the device's name, quoted if its bounds would be unclear in a table.
    private static func quoted(_ name: String) -> String {
        let isPlain = !name.isEmpty && name != "-" && name.first != " " && name.last != " " && !name.contains("  ")
        return isPlain ? name.printable() : "'\(name.printable())'"
    }
}

extension DeviceChange {
    /// The sign at the beginning of the line.
    fileprivate var sign: String {
        switch self {
        case .found: "+"
        case .changed: "~"
        case .lost: "-"
        }
    }
}

extension FamilyFit {
    /// The most likely family, with a question mark if it is not certain; nil if the device fits no family.
    var name: String? { families.first.map { isCertain ? $0 : "\($0)?" } }
}
