public import DBus

/// A Bluetooth adapter, as it was when it was asked for.
public struct Adapter: Sendable, Hashable {
    /// As the kernel numbers it, `hci0`. It may have another number when it was off the bus for a moment.
    public let name: String
    /// What it is known by.
    public let address: BluetoothAddress
    /// What it calls itself to others.
    public let alias: String
    /// Whether it is on.
    public let isPowered: Bool
    /// Whether it scans, for whatever program.
    public let isDiscovering: Bool
    /// What maker, product and version bluetoothd says it is, as `usb:v1D6Bp0246d0542`: of itself, unless it is set up to
    /// say something else.
    public let modalias: String?
    /// Where it is on the bus now.
    public let path: ObjectPath

    init?(_ path: ObjectPath, _ properties: ObjectMirror.Properties) {
        guard let address = properties["Address"]?.string.flatMap({ BluetoothAddress($0) }) else { return nil }
        self.path = path
        name = path.text.split(separator: "/").last.map { String($0) } ?? ""
        self.address = address
        alias = properties["Alias"]?.string ?? ""
        modalias = properties["Modalias"]?.string
        isPowered = properties["Powered"]?.boolean ?? false
        isDiscovering = properties["Discovering"]?.boolean ?? false
    }
}
