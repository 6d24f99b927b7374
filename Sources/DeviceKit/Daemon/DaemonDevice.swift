/// A device that a daemon, pumpctld, has and shares.
///
/// ```swift
/// for device in await Daemons.now().devices { print(device.name, device.isUp ? "is there" : "is away") }
/// ```
public struct DaemonDevice: Sendable, Hashable {
    /// What the daemon calls it.
    public var name: String
    /// The name of its family.
    public var family: String
    /// Where the daemon has it, as it is set there.
    public var endpoint: String
    /// Whether it is there now.
    public var isUp: Bool
    /// What tells it from all others on this computer, while the daemon has it: see `DeviceID`.
    public var deviceID: String?

    /// A device with all its parts.
    public init(name: String, family: String, endpoint: String, isUp: Bool, deviceID: String? = nil) {
        self.name = name
        self.family = family
        self.endpoint = endpoint
        self.isUp = isUp
        self.deviceID = deviceID
    }

    /// The endpoint that names it to other programs: `shared:pump`.
    public var sharedEndpoint: String { "shared:\(name)" }

    /// Reads a device in a daemon's answer; nil where it has no name.
    init?(_ member: DaemonResponse) {
        guard let name = member.text("name") else { return nil }
        self.init(
            name: name, family: member.text("family") ?? "", endpoint: member.text("endpoint") ?? "",
            isUp: member.flag("up"), deviceID: member.text("device_id"))
    }
}
