internal import DBus

/// How a central asked to read or to write.
public struct ATTRequest: Sendable, Hashable {
    /// The packets of a link of which nothing else is known.
    public static let smallestMTU = 23

    /// How something was written.
    public enum Kind: String, Sendable, Hashable {
        /// The central waits until it is told that it was.
        case request
        /// Without response.
        case command
        /// In parts that were checked.
        case reliable
    }

    /// Who asked; nil where bluetoothd has not said.
    public var central: BluetoothAddress?
    /// How many bytes a packet has. A notification carries 3 less.
    public var mtu: Int
    /// Where in the value the reading or writing begins.
    public var offset: Int
    /// How something is written; nil where bluetoothd has not said.
    public var kind: Kind?

    public init(central: BluetoothAddress? = nil, mtu: Int = smallestMTU, offset: Int = 0, kind: Kind? = nil) {
        self.central = central
        self.mtu = mtu
        self.offset = offset
        self.kind = kind
    }

    /// Reads what bluetoothd says with a call.
    init(_ options: [String: DBusValue]) {
        self.init(
            central: options["device"]?.objectPath.flatMap(Self.address),
            mtu: options["mtu"]?.integer ?? Self.smallestMTU, offset: options["offset"]?.integer ?? 0,
            kind: options["type"]?.string.flatMap { Kind(rawValue: $0) })
    }

    /// The address of a device is in its path: `/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF`.
    static func address(_ path: ObjectPath) -> BluetoothAddress? {
        let name = path.text.split(separator: "/").last ?? ""
        guard name.hasPrefix("dev_") else { return nil }
        return BluetoothAddress(String(name.dropFirst(4).map { $0 == "_" ? ":" : $0 }))
    }
}

/// Why a central may not read or write, as it is told.
public enum ATTError: String, Error, Sendable, Hashable {
    case failed = "Failed"
    case inProgress = "InProgress"
    case notPermitted = "NotPermitted"
    case notAuthorized = "NotAuthorized"
    case notSupported = "NotSupported"
    case invalidOffset = "InvalidOffset"
    case invalidLength = "InvalidValueLength"

    /// The error that bluetoothd is answered with.
    var answer: DBusError {
        DBusError(answering: DBusErrorName("org.bluez.Error.\(rawValue)") ?? .failed, "")
    }
}
