public import BlueZ
public import LineProtocol

/// How bytes go over the characteristics of a kind of BLE device.
///
/// Write and hear are named from this end: a module's own papers may call the characteristic that the device hears on
/// either TX or RX.
public struct GATTProfile: Sendable, Hashable {
    /// What people call it, as an endpoint's option `profile` names it.
    public let name: String
    /// The family that speaks so.
    public let family: String
    /// What it advertises: one of these.
    public let services: [BluetoothUUID]
    /// What this end writes to.
    public let write: BluetoothUUID
    /// What tells this end of what the device says.
    public let hear: BluetoothUUID
    /// What else such a device has, where the others are not its alone.
    public let mark: BluetoothUUID?
    /// What a device is, for people, that has these services and the mark; nil where devices of other families have them
    /// too, as they have HM-10 serial.
    public let deviceKind: String?
    public let writeType: ConnectedDevice.WriteType
    /// The most bytes of one write. A value has 512 at most, but a peripheral of BlueZ takes 510: it counts the 2 bytes of
    /// the handle (seen with 5.66).
    public let chunkLength: Int
    /// The time from one write to the next of what is sent at once.
    public let pacing: Duration
    /// Whether each write and each notification is a message of its own.
    public let keepsPacketBounds: Bool
    /// The values that the device holds in a characteristic each, where it has no stream of bytes. A link to it carries the
    /// lines that the device speaks on a serial port, each carried out as reading or writing a value.
    public let values: [LEDEndpoint]

    /// All that are known. Of two that fit a device the first counts.
    public static let all: [GATTProfile] = [
        // A UART at 9600 baud behind it takes 20.8 ms for 20 bytes; a module of this kind drops what comes faster.
        GATTProfile(
            "hm10", family: "pump", services: ["FFE0"], write: "FFE1", hear: "FFE1", writeType: .command,
            chunkLength: 20, pacing: .milliseconds(21)),
        // ble-serial#40
        GATTProfile(
            "bt4502w", family: "pump", services: ["FFE0", "FFE5"], write: "FFE9", hear: "FFE4", writeType: .command,
            chunkLength: 20, pacing: .milliseconds(21)),
        // Microchip's transparent UART. What notifies can be written too, and is not what the module hears on. A request: it
        // answers once its UART has room.
        GATTProfile(
            "issc", family: "pump", services: ["49535343-FE7D-4AE5-8FA9-9FAFD205E455"],
            write: "49535343-8841-43F4-A8D4-ECBE34729BB3", hear: "49535343-1E4D-4BD9-BA61-23C647249616",
            writeType: .request, chunkLength: 20),
        // A request: a message that is longer than a packet is still one write.
        GATTProfile(
            "nus", family: "peer", services: ["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"],
            write: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E", hear: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E",
            writeType: .request, chunkLength: 510, keepsPacketBounds: true),
        // The service and the first characteristic are those of a stock example, which others are made from too.
        GATTProfile(
            "storm", family: "storm", services: ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"],
            write: "BEB5483E-36E1-4688-B7F5-EA07361B26A8", hear: "BEB5483E-36E1-4688-B7F5-EA07361B26A8",
            mark: "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E", deviceKind: "a storm sensor", writeType: .request,
            chunkLength: 512, keepsPacketBounds: true),
        // The same device's raw measurements.
        GATTProfile(
            "storm-live", family: "storm", services: ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"],
            write: "BEB5483E-36E1-4688-B7F5-EA07361B26A8", hear: "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E",
            mark: "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E", deviceKind: "a storm sensor", writeType: .request,
            chunkLength: 512, keepsPacketBounds: true),
        GATTProfile(
            "led", family: "led", services: ["937312E0-2354-11EB-9F10-FBC30A62CF38"],
            write: "957312E0-2354-11EB-9F10-FBC30A62CF38", hear: "957312E0-2354-11EB-9F10-FBC30A62CF38",
            deviceKind: "an LED board", writeType: .request, chunkLength: 1, values: LEDEndpoint.all),
        rescue,
    ]

    /// What phones with the rescue app offer. A message may take several writes and notifications: the bounds of packets
    /// say nothing.
    public static let rescue = GATTProfile(
        "rescue", family: "rescue", services: ["FFF0"], write: "FFF1", hear: "FFF1", writeType: .request,
        chunkLength: 510)

    /// Whether a device is of the family for sure that has what the profile names.
    public var isUnique: Bool { deviceKind != nil }

    /// Whether a device has the services, and the mark where there is one.
    func fits(_ services: [GATTService]) -> Bool {
        services.contains { self.services.contains($0.uuid) }
            && (mark.map { mark in services.contains { $0.characteristics.contains { $0.uuid == mark } } } ?? true)
    }

    init(
        _ name: String, family: String, services: [BluetoothUUID], write: BluetoothUUID, hear: BluetoothUUID,
        mark: BluetoothUUID? = nil, deviceKind: String? = nil, writeType: ConnectedDevice.WriteType, chunkLength: Int,
        pacing: Duration = .zero,
        keepsPacketBounds: Bool = false, values: [LEDEndpoint] = []
    ) {
        self.name = name
        self.family = family
        self.services = services
        self.write = write
        self.hear = hear
        self.mark = mark
        self.deviceKind = deviceKind
        self.writeType = writeType
        self.chunkLength = chunkLength
        self.pacing = pacing
        self.keepsPacketBounds = keepsPacketBounds
        self.values = values
    }
}
