public import BlueZ

/// The way in which a kind of BLE device transfers bytes over its characteristics.
///
/// `write` and `hear` are named from this computer's side. Data sheets use TX and RX in either direction.
///
///     let scale = GATTProfile(
///         "scale", families: ["scale"], services: ["FFB0"], write: "FFB1", hear: "FFB2", writeType: .request,
///         chunkLength: 20)
///
/// A program passes the profiles that it knows as ``GATTProfiles`` to the functions that open BLE devices.
public struct GATTProfile: Sendable, Hashable {
    /// The name, for people and for an endpoint's option `profile`.
    public let name: String
    /// The families whose devices use this profile; may be empty. See ``GATTProfiles/add(_:for:)``.
    public internal(set) var families: [String]
    /// The services. A device advertises one of them.
    public let services: [BluetoothUUID]
    /// The characteristic that this computer writes to.
    public let write: BluetoothUUID
    /// The characteristic that notifies this computer.
    public let hear: BluetoothUUID
    /// A further characteristic that distinguishes these devices from other devices with the same services; nil if
    /// there is none.
    public let mark: BluetoothUUID?
    /// The kind of device, for people, if the services and the mark identify it; nil if devices of other families have
    /// the same services and mark, as with HM-10 serial ports.
    public let deviceKind: String?
    /// Another kind of device, for people, that has these services, such as `another device behind an HM-10`; nil if
    /// unknown.
    public let alternative: String?
    /// The preferred type of write. If the characteristic supports only the other type, that type is used.
    public let writeType: ConnectedDevice.WriteType
    /// The most bytes of one write. A value has at most 512 bytes, but BlueZ as a peripheral accepts only 510, since it
    /// counts the 2 bytes of the handle (seen with 5.66).
    public let chunkLength: Int
    /// The pause between the writes of one call of `Link.send(_:)`.
    public let pacing: Duration
    /// Whether each write and each notification is a separate message.
    public let keepsPacketBounds: Bool
    /// The values of a device that has no stream of bytes, one per characteristic. A link to such a device carries the
    /// lines of the device's serial port; each line reads or writes a value.
    public let values: [GATTValue]

    /// Whether a device that fits the profile certainly belongs to the profile's family.
    public var isUnique: Bool { deviceKind != nil }

    /// Creates a profile.
    ///
    /// - Parameters:
    ///   - name: The name. In a table, a later profile replaces an earlier one with the same name.
    ///   - families: The families whose devices use this profile.
    ///   - services: The services, of which a device advertises one.
    ///   - write: The characteristic that this computer writes to.
    ///   - hear: The characteristic that notifies this computer.
    ///   - mark: A further characteristic that distinguishes these devices.
    ///   - deviceKind: The kind of device, if the services and the mark identify it.
    ///   - alternative: Another kind of device that has these services.
    ///   - writeType: The preferred type of write.
    ///   - chunkLength: The most bytes of one write, 1 to 512.
    ///   - pacing: The pause between the writes of one call of `Link.send(_:)`.
    ///   - keepsPacketBounds: Whether each write and each notification is a separate message.
    ///   - values: The values of a device that has no stream of bytes.
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

    /// Returns whether a device has one of the services, and the mark if the profile has one.
    func fits(_ services: [GATTService]) -> Bool {
        services.contains { self.services.contains($0.uuid) }
            && (mark.map { mark in services.contains { $0.characteristics.contains { $0.uuid == mark } } } ?? true)
    }
}
