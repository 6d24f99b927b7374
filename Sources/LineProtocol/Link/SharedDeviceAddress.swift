/// Where a daemon that has a device passes on what programs send to it.
public struct SharedDeviceAddress: Sendable, Hashable {
    /// The path of the daemon's socket.
    public var socketPath: String
    /// What the daemon calls the device.
    public var name: String
    /// The endpoint by which the daemon has the device, which tells it from another of that name; nil where that is not known.
    public var endpoint: String?

    /// An address with its parts.
    public init(socketPath: String, name: String, endpoint: String? = nil) {
        self.socketPath = socketPath
        self.name = name
        self.endpoint = endpoint
    }
}
