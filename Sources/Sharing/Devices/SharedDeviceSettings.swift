public import DeviceKit
public import Transports

/// A device that is shared, and how.
public struct SharedDeviceSettings: Sendable, Hashable {
    /// What clients call it: letters, digits, `-` and `_`.
    public var name: String
    /// Where it is.
    public var endpoint: Endpoint
    /// What it is.
    public var family: Family
    /// Whether ``family`` was not named, but assumed.
    public var isFamilyAssumed: Bool
    /// How other programs reach it, beside by its name.
    public var shares: [ShareAddress]
    /// When its link is held.
    public var holding: LinkHolding
    /// Whether what goes over its link is recorded.
    public var isRecorded: Bool

    /// A device.
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

/// When the link to a shared device is held.
public enum LinkHolding: Sendable, Hashable {
    /// Always: a serial port, since opening it again might reset the board.
    case always
    /// While a client is there, and for so long behind the last: a BLE module serves one central at a time, and a phone may
    /// want it too.
    case whileUsed(idle: Duration)

    /// How long a BLE link is held behind the last client where nothing else is said.
    public static let standardIdle = Duration.seconds(60)

    /// That of an endpoint where nothing else is said.
    public static func standard(for endpoint: Endpoint) -> LinkHolding {
        endpoint.scheme == "ble" ? .whileUsed(idle: standardIdle) : .always
    }
}

/// One way by which other programs reach a shared device: by its family's lines as they are on a serial port, whatever carries
/// the device.
public enum ShareAddress: Sendable, Hashable {
    /// A pseudo-terminal, for programs that take a serial port; `link` is the path of a symbolic link to it.
    case terminal(link: String)
    /// A TCP port; `host` is an address or a name of this machine.
    case tcp(host: String, port: UInt16)
    /// A Unix socket, for this user alone.
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
