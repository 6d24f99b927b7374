import Logging
import Sharing

/// The configuration of `pumpctld`.
struct DaemonConfiguration: Sendable, Hashable {
    /// The settings for all devices.
    var daemon = DaemonSettings()
    /// The settings of the page for browsers; nil for no page.
    var http: HTTPSettings?
    /// The settings of each device.
    var devices: [SharedDeviceSettings]
}

/// The settings of ``DaemonConfiguration`` for all devices.
struct DaemonSettings: Sendable, Hashable {
    /// The path of the control socket, on which programs use devices by their names; nil for the first free default
    /// path.
    var socket: String?
    /// The group whose users may open the sockets and pseudo-terminals; nil for this user only.
    var group: String?
    /// The lowest level that is logged.
    var logLevel = Logger.Level.info
    /// Whether TCP shares may listen on addresses that other machines can reach.
    var allowsInsecureListening = false
}
