internal import BlueZ
public import Transports

extension GATTProfile {
    /// The profile of a storm sensor's log, and of its live rows, each behind the prefix `LIVE LOG: `.
    public static let storm = profile("storm", hear: "BEB5483E-36E1-4688-B7F5-EA07361B26A8")

    /// The profile of the same sensor's characteristic for raw measurements: it carries only live rows, without a
    /// prefix.
    public static let stormLive = profile("storm-live", hear: "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E")

    /// Returns a profile of a storm sensor. Its service and its write characteristic come from a widely copied example,
    /// so other devices have them too. The live characteristic is the mark of a storm sensor.
    private static func profile(_ name: String, hear: BluetoothUUID) -> GATTProfile {
        GATTProfile(
            name, families: ["storm"], services: ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"],
            write: "BEB5483E-36E1-4688-B7F5-EA07361B26A8", hear: hear, mark: "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E",
            deviceKind: "a storm sensor", writeType: .request, chunkLength: 512, keepsPacketBounds: true)
    }
}
