import DeviceKit
import SerialPort
import Terminal
import Transports

/// A serial port and its users.
struct SeenPort {
    let info: SerialPortInfo
    let holders: [PortHolder]
    /// The endpoint at which a daemon shares the port, such as `shared:pump`; nil if no daemon shares it.
    let shared: String?

    init(_ info: SerialPortInfo, _ daemons: Daemons) {
        self.info = info
        holders = info.holders()
        shared = daemons.device(of: DeviceID.serialPort(at: info.path))?.sharedEndpoint
    }
}

/// The text form of serial ports.
enum PortTable {
    /// Returns a table with a row for each port. If it is too wide, the name of the board is cut, and then columns are
    /// left out, those with the highest rank first.
    ///
    /// - Parameter width: The number of terminal columns; nil for no limit.
    static func text(_ ports: [SeenPort], width: Int? = nil) -> String {
        let rows = ports.map { cells($0.info) + [users($0)] }
        let table = TextTable(
            [
                "PORT", .init("USB ID", rank: 2), .init("SERIAL NUMBER", rank: 4), .init("PATH", rank: 5),
                .init("DRIVER", rank: 3), .init("PROBABLY", least: 8, rank: 1), "IN USE BY",
            ], rows)
        return table.lines(width: width).joined(separator: "\n")
    }

    /// Returns a line for a port that was attached or detached.
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

    private static func users(_ port: SeenPort) -> String {
        let users = port.holders.map(\.description) + [port.shared].compactMap(\.self)
        return users.isEmpty ? "-" : users.joined(separator: ", ")
    }
}
