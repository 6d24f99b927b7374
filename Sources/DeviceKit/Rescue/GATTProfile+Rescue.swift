internal import BlueZ
public import Transports

extension GATTProfile {
    /// What phones with the rescue app offer. A message may take several writes and notifications: the bounds of packets
    /// say nothing.
    public static let rescue = GATTProfile(
        "rescue", families: ["rescue"], services: ["FFF0"], write: "FFF1", hear: "FFF1", writeType: .request,
        chunkLength: 510)
}
