import SerialPort

/// Serial ports as people are shown them.
enum PortTable {
    private static let headings = ["PORT", "USB ID", "SERIAL NUMBER", "PATH", "DRIVER", "PROBABLY", "IN USE BY"]

    /// A line for each port, under headings.
    static func text(_ ports: [(info: SerialPortInfo, holders: [PortHolder])]) -> String {
        let rows = [headings] + ports.map { cells($0.info) + [holders($0.holders)] }
        let widths = headings.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let padded = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return padded.joined(separator: "  ").trimmingBlanks
        }.joined(separator: "\n")
    }

    /// A port that came or went, in one line.
    static func line(_ sign: String, _ info: SerialPortInfo) -> String {
        ([sign] + cells(info).filter { $0 != "-" }).joined(separator: "  ")
    }

    private static func cells(_ info: SerialPortInfo) -> [String] {
        [
            info.path, info.usb?.identifier.description ?? "-", info.usb?.serialNumber ?? "-",
            info.usb?.physicalPath ?? "-", info.driver ?? "-",
            info.board?.description ?? info.usb?.product ?? "-",
        ]
    }

    private static func holders(_ holders: [PortHolder]) -> String {
        holders.isEmpty ? "-" : holders.map(\.description).joined(separator: ", ")
    }
}
