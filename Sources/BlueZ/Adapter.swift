public import DBus

/// The state of a Bluetooth adapter at the time of the query.
public struct Adapter: Sendable, Hashable {
    /// The kernel's name, such as `hci0`. The number may change if the adapter disappears for a moment.
    public let name: String
    /// The address, which identifies the adapter.
    public let address: BluetoothAddress
    /// The name that the adapter shows to other devices.
    public let alias: String
    /// Whether the adapter is powered.
    public let isPowered: Bool
    /// Whether the adapter scans, for any program.
    public let isDiscovering: Bool
    /// The vendor, product and version that bluetoothd reports, such as `usb:v1D6Bp0246d0542`; nil if it reports none.
    /// By default these values identify bluetoothd and not the hardware; bluetoothd's configuration may set others.
    public let modalias: String?
    /// The object's path on the bus at the time of the query.
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
