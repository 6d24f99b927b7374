internal import DBus

/// The error code of the Attribute Protocol with which a device refuses a request of this computer (Bluetooth Core 5.3,
/// Vol 3, Part F, 3.4.1.1). In the other direction, a peripheral of this computer refuses with an ``ATTError``.
public struct ATTErrorCode: RawRepresentable, Sendable, Hashable {
    /// The code on the wire.
    public let rawValue: UInt8

    /// Creates a code from its number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device has no attribute with this handle.
    public static let invalidHandle = ATTErrorCode(rawValue: 0x01)
    /// The connection is not authenticated. Pairing authenticates it.
    public static let insufficientAuthentication = ATTErrorCode(rawValue: 0x05)
    /// The device has no attribute of this type in the requested range.
    public static let attributeNotFound = ATTErrorCode(rawValue: 0x0A)
    /// The encryption key of the connection is too short.
    public static let insufficientKeySize = ATTErrorCode(rawValue: 0x0C)
    /// An error without a code of its own. bluetoothd 5.66 also reports it if the device requires pairing, and if the
    /// connection broke during the request.
    public static let unlikelyError = ATTErrorCode(rawValue: 0x0E)
    /// The connection is not encrypted.
    public static let insufficientEncryption = ATTErrorCode(rawValue: 0x0F)

    /// Whether a device may use this code to require pairing.
    var asksForPairing: Bool {
        switch self {
        case .insufficientAuthentication, .insufficientKeySize, .unlikelyError, .insufficientEncryption: true
        default: false
        }
    }

    /// Parses the code of an error reply of bluetoothd; nil if the reply contains none. bluetoothd puts a code for
    /// which it has no D-Bus error name at the end of the message (`create_gatt_dbus_error` in src/gatt-client.c).
    init?(_ name: DBusErrorName?, _ message: String?) {
        guard name == .bluez("Failed"), let message else { return nil }
        let introduction = "ATT error: 0x"
        let digits = message.utf8.suffix(2)
        guard message.utf8.dropLast(2).reversed().starts(with: introduction.utf8.reversed()) else { return nil }
        var code: UInt8 = 0
        for digit in digits {
            guard let value = HexDigit.value(of: digit) else { return nil }
            code = code << 4 | UInt8(value)
        }
        self.init(rawValue: code)
    }
}

extension ATTErrorCode: CustomStringConvertible {
    /// The code in hexadecimal, such as `0x03`.
    public var description: String { "0x" + HexDigit.text(UInt64(rawValue), 2) }
}
