internal import StrictJSON

/// A device that a daemon, pumpctld, owns and shares.
///
/// ```swift
/// for device in await Daemons.now().devices { print(device.name, device.isUp ? "is there" : "is away") }
/// ```
public struct DaemonDevice: Sendable, Hashable {
    /// The name of the device in the daemon's configuration.
    public var name: String
    /// The name of its family.
    public var family: String
    /// The endpoint at which the daemon opens the device, from its configuration.
    public var endpoint: String
    /// Whether the device is connected now.
    public var isUp: Bool
    /// The identity of the device on this computer: see `DeviceID`. Nil if it is unknown, for example because the
    /// daemon does not have the device open.
    public var deviceID: String?

    /// Creates a device from its properties.
    public init(name: String, family: String, endpoint: String, isUp: Bool, deviceID: String? = nil) {
        self.name = name
        self.family = family
        self.endpoint = endpoint
        self.isUp = isUp
        self.deviceID = deviceID
    }

    /// The endpoint by which other programs open the device: `shared:pump`.
    public var sharedEndpoint: String { "shared:\(name)" }

    /// Reads a device from a daemon's response. Returns nil if the response contains no name.
    init?(_ member: JSONValue) {
        guard let name = member["name"]?.text else { return nil }
        self.init(
            name: name, family: member["family"]?.text ?? "", endpoint: member["endpoint"]?.text ?? "",
            isUp: member["up"]?.boolean == true, deviceID: member["device_id"]?.text)
    }
}
