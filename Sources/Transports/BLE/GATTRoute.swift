internal import BlueZ

/// The characteristics of a device that carry the bytes, and the way to use them. A property without a comment has the
/// meaning that it has in ``GATTProfile``.
struct GATTRoute: Sendable, Hashable {
    let write: GATTCharacteristic
    let hear: GATTCharacteristic
    /// The type of write to use.
    let writeType: ConnectedDevice.WriteType
    let chunkLength: Int
    let pacing: Duration
    let keepsPacketBounds: Bool
    /// The characteristics of the device's values; empty for a stream of bytes.
    let values: [GATTValue: GATTCharacteristic]
    /// The reason for the choice, for people, if the route was guessed; otherwise nil.
    let reason: String?

    /// Creates the route of a profile; nil if the device does not fit the profile.
    init?(_ profile: GATTProfile, in services: [GATTService]) {
        let all = services.flatMap(\.characteristics)
        guard let write = all.first(where: { $0.uuid == profile.write }),
            let hear = all.first(where: { $0.uuid == profile.hear }),
            profile.fits(services),
            let type = Self.writeType(of: write, preferring: profile.writeType)
        else { return nil }
        var values: [GATTValue: GATTCharacteristic] = [:]
        for value in profile.values {
            values[value] = all.first {
                $0.uuid == value.characteristic && (value.service == nil || $0.service == value.service)
            }
        }
        self.init(
            write: write, hear: hear, writeType: type, chunkLength: profile.chunkLength, pacing: profile.pacing,
            keepsPacketBounds: profile.keepsPacketBounds, values: values, reason: nil)
    }

    /// Creates a route over named characteristics; nil if the device lacks them, or their flags are unsuitable. Without
    /// a profile, a write has up to 512 bytes, the length limit of a value.
    ///
    /// - Parameter profile: The profile of the requested family; nil if no family was requested.
    init?(write: BluetoothUUID, hear: BluetoothUUID, as profile: GATTProfile?, in services: [GATTService]) {
        let all = services.flatMap(\.characteristics)
        let preferred = profile?.writeType ?? .command
        let written = all.lazy.filter { $0.uuid == write }.compactMap { characteristic in
            Self.writeType(of: characteristic, preferring: preferred).map { (characteristic, $0) }
        }
        guard let (write, type) = written.first, let hear = all.first(where: { $0.uuid == hear && $0.tells }) else {
            return nil
        }
        self.init(
            write: write, hear: hear, writeType: type, chunkLength: profile?.chunkLength ?? 512,
            pacing: profile?.pacing ?? .zero, keepsPacketBounds: profile?.keepsPacketBounds ?? false, values: [:],
            reason: nil)
    }

    /// Guesses the route to an unknown module: a writable characteristic and a notifying characteristic. Prefers one
    /// characteristic that is both, then two characteristics of the same service, then the first pair. Returns nil if
    /// there is no pair.
    init?(guessedFrom services: [GATTService]) {
        let all = services.filter { !Self.everybodysServices.contains($0.uuid) }.flatMap(\.characteristics)
        let hearing = all.filter { !$0.flags.isDisjoint(with: [.notify, .indicate]) }
        let written = all.filter { Self.writeType(of: $0, preferring: .command) != nil }
        let pairs = written.flatMap { write in hearing.map { (write, $0) } }
        guard
            let (write, hear) = pairs.first(where: { $0 == $1 })
                ?? pairs.first(where: { $0.service == $1.service }) ?? pairs.first,
            let type = Self.writeType(of: write, preferring: .command)
        else { return nil }
        let others = pairs.count > 1 ? ", the first of \(pairs.count) such pairs" : ""
        self.init(
            write: write, hear: hear, writeType: type, chunkLength: 512, pacing: .zero, keepsPacketBounds: false,
            values: [:],
            reason: write == hear
                ? "unknown kind of device: using \(write.uuid), which is writable and notifies\(others)"
                : "unknown kind of device: writing to \(write.uuid), which is writable, and subscribing to "
                    + "\(hear.uuid), which notifies\(others)")
    }

    private init(
        write: GATTCharacteristic, hear: GATTCharacteristic, writeType: ConnectedDevice.WriteType, chunkLength: Int,
        pacing: Duration, keepsPacketBounds: Bool, values: [GATTValue: GATTCharacteristic], reason: String?
    ) {
        self.write = write
        self.hear = hear
        self.writeType = writeType
        self.chunkLength = chunkLength
        self.pacing = pacing
        self.keepsPacketBounds = keepsPacketBounds
        self.values = values
        self.reason = reason
    }

    /// Returns the type of write to use; nil if the characteristic is not writable. The flags have to be checked here,
    /// because bluetoothd does not compare the type of a write with them.
    private static func writeType(
        of characteristic: GATTCharacteristic, preferring preferred: ConnectedDevice.WriteType
    ) -> ConnectedDevice.WriteType? {
        let types: [ConnectedDevice.WriteType] = preferred == .command ? [.command, .request] : [.request, .command]
        return types.first { characteristic.flags.contains($0 == .command ? .writeWithoutResponse : .write) }
    }

    /// The services that devices of any kind have: generic access, generic attribute, device information and battery.
    static let everybodysServices: Set<BluetoothUUID> = ["1800", "1801", "180A", "180F"]
}
