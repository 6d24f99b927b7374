public import BlueZ
public import Transports

/// A BLE device that a scan has found.
public struct ScannedDevice: Sendable, Hashable {
    /// The address of the device.
    public let address: BluetoothAddress
    /// The advertised name; nil if there is none.
    public let name: String?
    /// The strength of the last received signal in dBm; nil if the device is connected, or is not received any more.
    public let rssi: Int?
    /// The services that the device advertises, or was found to have.
    public let services: [BluetoothUUID]
    /// Whether the device is connected to this computer.
    public let isConnected: Bool
    /// The families that the device may belong to.
    public let fit: FamilyFit

    /// Creates a device from its properties.
    ///
    /// - Parameters:
    ///   - address: The address of the device.
    ///   - name: The advertised name. Some devices hide their name: an empty name, or one of NULs, counts as no name.
    ///   - rssi: The signal strength in dBm; nil if unknown.
    ///   - services: The services that the device advertises, or was found to have.
    ///   - isConnected: Whether the device is connected to this computer.
    ///   - fit: The possible families; nil to determine them from the services.
    public init(
        _ address: BluetoothAddress, name: String? = nil, rssi: Int? = nil, services: [BluetoothUUID] = [],
        isConnected: Bool = false, fit: FamilyFit? = nil
    ) {
        self.address = address
        self.name = name.flatMap { name in name.unicodeScalars.allSatisfy { $0 == "\0" } ? nil : name }
        self.rssi = rssi
        self.services = services
        self.isConnected = isConnected
        self.fit = fit ?? FamilyFit(services: services)
    }

    /// Creates a device from a report of bluetoothd.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - characteristics: The characteristics that were found while the device was connected; empty if it was not.
    ///   - profiles: The profiles by which families are recognized.
    public init(
        _ report: DeviceReport, characteristics: Set<BluetoothUUID> = [], among profiles: GATTProfiles = .families
    ) {
        self.init(
            report.address, name: report.name, rssi: report.rssi, services: report.services,
            isConnected: report.isConnected,
            fit: FamilyFit(services: report.services, characteristics: characteristics, among: profiles))
    }

    /// Whether two states of a device are equal except for the signal strength, which changes all the time.
    func isLike(_ other: ScannedDevice) -> Bool {
        name == other.name && services == other.services && isConnected == other.isConnected && fit == other.fit
    }
}

/// The devices that a scan has found and not lost.
public struct ScannedDevices: Sendable {
    private var devices: [BluetoothAddress: ScannedDevice] = [:]

    /// Creates an empty set of devices.
    public init() {}

    /// The device at an address; nil if there is none.
    public subscript(address: BluetoothAddress) -> ScannedDevice? {
        get { devices[address] }
        set { devices[address] = newValue }
    }

    /// The devices sorted by signal strength, strongest first; then connected devices, then devices that are not
    /// received any more.
    public var sorted: [ScannedDevice] {
        devices.values.sorted { one, other in
            let (left, right) = (Self.rank(one), Self.rank(other))
            return left == right ? one.address < other.address : left > right
        }
    }

    /// Returns the signal strength, or else a number below every signal strength.
    private static func rank(_ device: ScannedDevice) -> Int { device.rssi ?? (device.isConnected ? -1000 : -2000) }
}
