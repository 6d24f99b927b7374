public import BlueZ

/// How bytes go over the characteristics of a kind of BLE device.
///
/// Write and hear are named from this end: a module's own papers may call the characteristic that the device hears on
/// either TX or RX.
///
///     let scale = GATTProfile(
///         "scale", families: ["scale"], services: ["FFB0"], write: "FFB1", hear: "FFB2", writeType: .request,
///         chunkLength: 20)
///
/// A program hands the profiles that it knows to what opens BLE devices, as ``GATTProfiles``.
public struct GATTProfile: Sendable, Hashable {
    /// What people call it, as an endpoint's option `profile` names it.
    public let name: String
    /// The families of devices that speak so; none where nobody has said so. See ``GATTProfiles/add(_:for:)``.
    public internal(set) var families: [String]
    /// What it advertises: one of these.
    public let services: [BluetoothUUID]
    /// What this end writes to.
    public let write: BluetoothUUID
    /// What tells this end of what the device says.
    public let hear: BluetoothUUID
    /// A characteristic that such a device has besides, where others have the services too.
    public let mark: BluetoothUUID?
    /// What a device is, for people, that has these services and the mark; nil where devices of other families have them
    /// too, as they have HM-10 serial.
    public let deviceKind: String?
    /// What else a device may be, for people, that has these services: `another device behind an HM-10`; nil where nobody
    /// has said so.
    public let alternative: String?
    /// Whether the device confirms each write. Where it can be written in one way only, it is written in that.
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
    public let values: [GATTValue]

    /// Whether a device is of the family for sure that has what the profile names.
    public var isUnique: Bool { deviceKind != nil }

    /// The profile of a kind of devices.
    ///
    /// - Parameters:
    ///   - name: As ``name``; of two profiles with one name in a table the later replaces the first.
    ///   - chunkLength: In bytes, 1 to 512.
    public init(
        _ name: String, families: [String] = [], services: [BluetoothUUID], write: BluetoothUUID, hear: BluetoothUUID,
        mark: BluetoothUUID? = nil, deviceKind: String? = nil, alternative: String? = nil,
        writeType: ConnectedDevice.WriteType, chunkLength: Int, pacing: Duration = .zero,
        keepsPacketBounds: Bool = false, values: [GATTValue] = []
    ) {
        self.name = name
        self.families = families
        self.services = services
        self.write = write
        self.hear = hear
        self.mark = mark
        self.deviceKind = deviceKind
        self.alternative = alternative
        self.writeType = writeType
        self.chunkLength = min(max(chunkLength, 1), 512)
        self.pacing = pacing
        self.keepsPacketBounds = keepsPacketBounds
        self.values = values
    }

    /// Whether a device has the services, and the mark where there is one.
    func fits(_ services: [GATTService]) -> Bool {
        services.contains { self.services.contains($0.uuid) }
            && (mark.map { mark in services.contains { $0.characteristics.contains { $0.uuid == mark } } } ?? true)
    }
}
