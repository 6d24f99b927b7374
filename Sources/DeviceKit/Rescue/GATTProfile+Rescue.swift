internal import BlueZ
public import Transports

extension GATTProfile {
    /// The profile of phones with the rescue app. A message may take several writes or notifications, so packet bounds
    /// have no meaning.
    public static let rescue = GATTProfile(
        "rescue", families: ["rescue"], services: ["FFF0"], write: "FFF1", hear: "FFF1", writeType: .request,
        chunkLength: 510)
}
