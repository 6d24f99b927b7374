import Logging
import Sharing

/// What `pumpctld` serves, and how.
///
/// ```swift
/// let configuration = try DaemonConfiguration(toml: text)
/// for device in configuration.devices { print(device.name, device.shares) }
/// ```
struct DaemonConfiguration: Sendable, Hashable {
    /// What concerns all devices.
    var daemon = DaemonSettings()
    /// The devices, by their names.
    var devices: [SharedDeviceSettings]
}

/// What concerns all devices of ``DaemonConfiguration``.
struct DaemonSettings: Sendable, Hashable {
    /// The path of the socket at which programs ask for devices by their names; nil for the standard one.
    var socket: String?
    /// The group whose users may open the sockets and pseudo-terminals; nil for this user alone.
    var group: String?
    /// The least important messages that are logged.
    var logLevel = Logger.Level.info
    /// Whether a TCP share may listen on an address that other machines reach.
    var allowsInsecureListening = false
}
