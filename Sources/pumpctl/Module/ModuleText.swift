import DeviceKit
import LineProtocol

/// The text and the record of a BLE module's properties.
enum ModuleText {
    /// Returns the properties as lines of a name and a value.
    static func table(of info: ModuleInfo) -> String {
        PumpText.table([
            ("dialect", "\(info.dialect): \(info.title)"), ("version", info.version?.printable() ?? unknown),
            ("name", info.name?.printable() ?? unknown), ("baud", info.baudRate.map { "\($0)" } ?? unknown),
            ("role", info.role?.rawValue ?? unknown), ("address", info.address?.printable() ?? unknown),
        ])
    }

    private static let unknown = "unknown"

    static func record(of info: ModuleInfo) -> ResultRecord {
        [
            "ok": true, "dialect": info.dialect, "version": info.version, "name": info.name, "baud": info.baudRate,
            "role": info.role?.rawValue, "address": info.address,
        ]
    }
}
