/// Where a daemon that has a device passes on what programs send to it.
public struct SharedDeviceAddress: Sendable, Hashable {
    /// The path of the daemon's socket.
    public var socketPath: String
    /// What the daemon calls the device.
    public var name: String

    /// An address with both parts.
    public init(socketPath: String, name: String) {
        self.socketPath = socketPath
        self.name = name
    }
}
