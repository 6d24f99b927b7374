import SerialPort
import Terminal

/// Serial ports as people are shown them.
enum PortTable {
    /// A line for each port, under headings.
    static func text(_ ports: [(info: SerialPortInfo, holders: [PortHolder])]) -> String {
        let rows = ports.map { cells($0.info) + [holders($0.holders)] }
        let table = TextTable(["PORT", "USB ID", "SERIAL NUMBER", "PATH", "DRIVER", "PROBABLY", "IN USE BY"], rows)
        return table.lines().joined(separator: "\n")
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
