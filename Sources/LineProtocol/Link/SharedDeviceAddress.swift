/// The address of a device that a daemon shares with other programs.
public struct SharedDeviceAddress: Sendable, Hashable {
    /// The path of the daemon's socket.
    public var socketPath: String
    /// The daemon's name of the device.
    public var name: String
    /// The endpoint from which the daemon has opened the device. The endpoint distinguishes devices with the same name;
    /// nil if it is unknown.
    public var endpoint: String?

    /// Creates an address.
    public init(socketPath: String, name: String, endpoint: String? = nil) {
        self.socketPath = socketPath
        self.name = name
        self.endpoint = endpoint
    }
}
