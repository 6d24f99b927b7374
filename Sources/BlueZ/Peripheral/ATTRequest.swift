internal import DBus

/// The parameters of a central's read, write, or subscription.
public struct ATTRequest: Sendable, Hashable {
    /// The MTU in bytes of a connection without a negotiated MTU.
    public static let smallestMTU = 23

    /// The type of a write that a central makes. The writes of this computer as a central have a
    /// ``ConnectedDevice/WriteType``.
    public enum Kind: String, Sendable, Hashable {
        /// A write with response: the central waits for the confirmation.
        case request
        /// A write without response.
        case command
        /// A reliable write: the central sends the value in parts, and compares the echo of each part before the write
        /// takes effect.
        case reliable
    }

    /// The address of the central; nil if bluetoothd has not reported it.
    public var central: BluetoothAddress?
    /// The MTU of the connection in bytes; ``smallestMTU`` if bluetoothd has not reported it. A notification holds 3
    /// bytes less.
    public var mtu: Int
    /// The position in the value at which the read or write begins, in bytes.
    public var offset: Int
    /// The type of a write; nil if bluetoothd has not reported it. Every write over a socket of
    /// ``LocalCharacteristic/Delivery/toEach`` counts as a ``Kind/command``.
    public var kind: Kind?

    /// Creates a request.
    public init(central: BluetoothAddress? = nil, mtu: Int = smallestMTU, offset: Int = 0, kind: Kind? = nil) {
        self.central = central
        self.mtu = mtu
        self.offset = offset
        self.kind = kind
    }

    /// Creates a request from the options of bluetoothd's call.
    init(_ options: [String: DBusValue]) {
        self.init(
            central: options["device"]?.objectPath.flatMap(Self.address),
            mtu: options["mtu"]?.integer ?? Self.smallestMTU, offset: options["offset"]?.integer ?? 0,
            kind: options["type"]?.string.flatMap { Kind(rawValue: $0) })
    }

    /// Extracts the address of a device from its path: `/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF`.
    static func address(_ path: ObjectPath) -> BluetoothAddress? {
        let name = path.text.split(separator: "/").last ?? ""
        guard name.hasPrefix("dev_") else { return nil }
        return BluetoothAddress(String(name.dropFirst(4).map { $0 == "_" ? ":" : $0 }))
    }
}

/// A reason for which a peripheral of this computer refuses a central's read or write. bluetoothd sends the central an
/// ATT error for it. A device refuses requests of this computer with an ``ATTErrorCode``.
public enum ATTError: String, Error, Sendable, Hashable {
    /// Any reason without a case of its own.
    case failed = "Failed"
    /// An earlier operation is still in progress.
    case inProgress = "InProgress"
    /// The characteristic does not permit the operation.
    case notPermitted = "NotPermitted"
    /// The central is not authorized.
    case notAuthorized = "NotAuthorized"
    /// The peripheral does not support the operation.
    case notSupported = "NotSupported"
    /// The offset is beyond the end of the value.
    case invalidOffset = "InvalidOffset"
    /// The value is too long.
    case invalidLength = "InvalidValueLength"

    /// The error reply to bluetoothd.
    var answer: DBusError {
        DBusError(answering: DBusErrorName("org.bluez.Error.\(rawValue)") ?? .failed, "")
    }
}
