import BlueZ
import DeviceKit
import LineProtocol
import Terminal

/// BLE devices as people are shown them.
enum ScanTable {
    /// A line for each device. The address, by which devices of one name are told apart, is never cut.
    static func table(_ devices: [ScannedDevice]) -> TextTable {
        TextTable(
            [
                .init("NAME", least: 8), "ADDRESS", "SIGNAL", .init("FAMILY", rank: 1),
                .init("SERVICES", least: 10, rank: 1),
            ], devices.map(cells))
    }

    /// A device of which there is news, in one line.
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

    /// The name; in quotes where it could be taken for another.
    private static func quoted(_ name: String) -> String {
        let isPlain = !name.isEmpty && name != "-" && name.first != " " && name.last != " " && !name.contains("  ")
        return isPlain ? name.printable() : "'\(name.printable())'"
    }
}

extension DeviceChange {
    /// What stands before its line.
    fileprivate var sign: String {
        switch self {
        case .found: "+"
        case .changed: "~"
        case .lost: "-"
        }
    }
}

extension FamilyFit {
    /// The likeliest family, with a question mark where it is not certain; nil where none is known.
    var name: String? { families.first.map { isCertain ? $0 : "\($0)?" } }
}
