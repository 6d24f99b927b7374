public import BlueZ
public import Transports

/// A BLE device that a scan has seen.
public struct ScannedDevice: Sendable, Hashable {
    /// What it is known by.
    public let address: BluetoothAddress
    /// What it calls itself; nil where it does not say.
    public let name: String?
    /// How strongly it was last heard, in dBm; nil where it is connected, or is not heard any more.
    public let rssi: Int?
    /// The services that it advertises, or was found to have.
    public let services: [BluetoothUUID]
    /// Whether a program of this computer is connected to it.
    public let isConnected: Bool
    /// What families it may be of.
    public let fit: FamilyFit

    /// A device with all its parts.
    ///
    /// - Parameters:
    ///   - name: What it advertises. Some that hide their name advertise one that is empty, or of zeros: that is none.
    ///   - fit: What families it may be of; nil for what its services tell.
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

    /// A device as bluetoothd tells of it.
    ///
    /// - Parameters:
    ///   - characteristics: What it was found to have when it was connected; empty where it was not.
    ///   - profiles: The profiles that its families are told by.
    public init(
        _ report: DeviceReport, characteristics: Set<BluetoothUUID> = [], among profiles: GATTProfiles = .families
    ) {
        self.init(
            report.address, name: report.name, rssi: report.rssi, services: report.services,
            isConnected: report.isConnected,
            fit: FamilyFit(services: report.services, characteristics: characteristics, among: profiles))
    }

    /// Whether it differs from another state of it in its signal strength alone, which changes all the time.
    func isLike(_ other: ScannedDevice) -> Bool {
        name == other.name && services == other.services && isConnected == other.isConnected && fit == other.fit
    }
}

/// The devices that a scan has seen and not lost.
public struct ScannedDevices: Sendable {
    private var devices: [BluetoothAddress: ScannedDevice] = [:]

    /// No device.
    public init() {}

    /// The device at an address; nil where none is in sight.
    public subscript(address: BluetoothAddress) -> ScannedDevice? {
        get { devices[address] }
        set { devices[address] = newValue }
    }

    /// The strongest first, then those that are connected, then what was not heard again.
    public var sorted: [ScannedDevice] {
        devices.values.sorted { one, other in
            let (left, right) = (Self.rank(one), Self.rank(other))
            return left == right ? one.address < other.address : left > right
        }
    }

    private static func rank(_ device: ScannedDevice) -> Int { device.rssi ?? (device.isConnected ? -1000 : -2000) }
}
