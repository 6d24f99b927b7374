public import DeviceKit
public import Transports

/// The settings of a shared device.
public struct SharedDeviceSettings: Sendable, Hashable {
    /// The name by which clients address the device: letters, digits, `-` and `_`.
    public var name: String
    /// The endpoint from which the link is opened.
    public var endpoint: Endpoint
    /// The device's family.
    public var family: Family
    /// Whether ``family`` was assumed because the configuration does not name it.
    public var isFamilyAssumed: Bool
    /// The addresses at which programs reach the device, in addition to its name on the control socket.
    public var shares: [ShareAddress]
    /// When the link is held open.
    public var holding: LinkHolding
    /// Whether the link's traffic, the values that the device reports, and its changes are recorded.
    public var isRecorded: Bool

    /// Creates the settings of a device.
    ///
    /// - Parameters:
    ///   - name: The name by which clients address the device: letters, digits, `-` and `_`.
    ///   - endpoint: The endpoint from which the link is opened.
    ///   - family: The device's family.
    ///   - isFamilyAssumed: Whether `family` was assumed because the configuration does not name it.
    ///   - shares: The addresses at which programs reach the device.
    ///   - holding: When the link is held open; nil for ``LinkHolding/standard(for:)``.
    ///   - isRecorded: Whether the link's traffic, the values that the device reports, and its changes are recorded.
    public init(
        name: String, endpoint: Endpoint, family: Family, isFamilyAssumed: Bool = false, shares: [ShareAddress] = [],
        holding: LinkHolding? = nil, isRecorded: Bool = false
    ) {
        self.name = name
        self.endpoint = endpoint
        self.family = family
        self.isFamilyAssumed = isFamilyAssumed
        self.shares = shares
        self.holding = holding ?? LinkHolding.standard(for: endpoint)
        self.isRecorded = isRecorded
    }
}

/// The times in which the link to a shared device is held open.
public enum LinkHolding: Sendable, Hashable {
    /// Always. The default except for BLE: reopening a serial port might reset the board.
    case always
    /// While a client, subscription or request needs the link, and for `idle` afterwards. The default for BLE: a module
    /// serves one central at a time, and a phone may want to connect as well.
    case whileUsed(idle: Duration)

    /// The default idle time of a BLE link.
    public static let standardIdle = Duration.seconds(60)

    /// Returns the default for an endpoint: ``whileUsed(idle:)`` for BLE, otherwise ``always``.
    public static func standard(for endpoint: Endpoint) -> LinkHolding {
        endpoint.scheme == "ble" ? .whileUsed(idle: standardIdle) : .always
    }
}

/// An address at which programs reach a shared device by the lines of its family's protocol, as on a serial port,
/// whatever link the device itself has.
public enum ShareAddress: Sendable, Hashable {
    /// A pseudo-terminal, for programs that need a serial port; `link` is the path of a symbolic link to the
    /// pseudo-terminal.
    case terminal(link: String)
    /// A TCP port; `host` is an address or name of this machine.
    case tcp(host: String, port: UInt16)
    /// A Unix socket. ``SocketShare`` makes it accessible to this user only; `pumpctld` then admits a group if its
    /// configuration names one.
    case unix(path: String)
}

extension ShareAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .terminal(let link): "pty:\(link)"
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
