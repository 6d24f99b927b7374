import BlueZ
import DeviceKit
import LineProtocol

/// BLE devices as people are shown them.
enum ScanTable {
    private static let headings = ["NAME", "ADDRESS", "SIGNAL", "FAMILY", "SERVICES"]
    private static let gap = "  "
    /// What a column may shrink to before others have to go: the address, by which devices of one name are told apart,
    /// is never cut.
    private static let leastName = 8
    private static let leastServices = 10

    /// A line for each device, under headings, no wider than a terminal.
    ///
    /// - Parameter width: The terminal's columns; nil where lines may be as long as they like.
    static func lines(_ devices: [ScannedDevice], width: Int? = nil) -> [String] {
        let rows = [headings] + devices.map(cells)
        var widths = headings.indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
        if let width { shrink(&widths, to: width) }
        return rows.map { row in
            let columns = zip(row, widths).filter { $1 > 0 }.map { $0.padded(to: $1) }
            let line = columns.joined(separator: gap).trimmingBlanks
            return width.map { line.cut(to: $0) } ?? line
        }
    }

    /// A device of which there is news, in one line.
    static func line(_ change: DeviceChange, _ device: ScannedDevice) -> String {
        ([change.sign] + cells(device).filter { $0 != "-" }).joined(separator: gap)
    }

    /// Takes from the services first, then from the name, then does without services and family.
    private static func shrink(_ widths: inout [Int], to width: Int) {
        func excess() -> Int { widths.reduce(0) { $0 + ($1 > 0 ? $1 + gap.count : 0) } - gap.count - width }
        for (column, least) in [(4, leastServices), (0, leastName)] where excess() > 0 {
            widths[column] = max(min(widths[column], least), widths[column] - excess())
        }
        for column in [4, 3] where excess() > 0 { widths[column] = 0 }
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
        let isPlain = !name.isEmpty && name != "-" && name.first != " " && name.last != " "
        return isPlain ? name.printable() : "'\(name.printable())'"
    }
}
