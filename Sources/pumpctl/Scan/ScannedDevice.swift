import BlueZ
import DeviceKit

/// A BLE device that a scan has seen.
struct ScannedDevice: Hashable {
    let address: BluetoothAddress
    /// What it calls itself; nil where it does not say.
    let name: String?
    /// In dBm; nil where it is connected, or is not heard any more.
    let rssi: Int?
    let services: [BluetoothUUID]
    let isConnected: Bool
    let fit: FamilyFit

    init(
        _ address: BluetoothAddress, name: String? = nil, rssi: Int? = nil, services: [BluetoothUUID] = [],
        isConnected: Bool = false, fit: FamilyFit? = nil
    ) {
        self.address = address
        // Some that hide their name advertise one that is empty, or of zeros.
        self.name = name.flatMap { name in name.unicodeScalars.allSatisfy { $0 == "\0" } ? nil : name }
        self.rssi = rssi
        self.services = services
        self.isConnected = isConnected
        self.fit = fit ?? FamilyFit(services: services)
    }

    /// - Parameter characteristics: What it was found to have when it was connected.
    init(_ report: DeviceReport, characteristics: Set<BluetoothUUID> = []) {
        self.init(
            report.address, name: report.name, rssi: report.rssi, services: report.services,
            isConnected: report.isConnected,
            fit: FamilyFit(services: report.services, characteristics: characteristics))
    }

    /// Whether it is, or may be, of a family.
    func isPerhaps(_ family: Family) -> Bool { (fit.certain ?? fit.possible) == family.name }

    /// Whether another state of it is worth a line, for who can't overwrite the one before: strengths change all the time.
    func isLike(_ other: ScannedDevice) -> Bool {
        name == other.name && services == other.services && isConnected == other.isConnected && fit == other.fit
    }
}

/// The devices that a scan has seen and not lost.
struct ScannedDevices {
    private var devices: [BluetoothAddress: ScannedDevice] = [:]

    subscript(address: BluetoothAddress) -> ScannedDevice? {
        get { devices[address] }
        set { devices[address] = newValue }
    }

    /// The strongest first, then those that are connected, then what was not heard again.
    var sorted: [ScannedDevice] {
        devices.values.sorted { one, other in
            let (left, right) = (Self.rank(one), Self.rank(other))
            return left == right ? one.address < other.address : left > right
        }
    }

    private static func rank(_ device: ScannedDevice) -> Int { device.rssi ?? (device.isConnected ? -1000 : -2000) }
}
