internal import DBus

/// The error of the Attribute Protocol by which a device refuses a request (Bluetooth Core 5.3, Vol 3, Part F, 3.4.1.1).
public struct ATTErrorCode: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device has no attribute of this handle.
    public static let invalidHandle = ATTErrorCode(rawValue: 0x01)
    /// The link would have to be authenticated, which pairing does.
    public static let insufficientAuthentication = ATTErrorCode(rawValue: 0x05)
    /// The device has no attribute of this kind there.
    public static let attributeNotFound = ATTErrorCode(rawValue: 0x0A)
    /// The key of the link is too short.
    public static let insufficientKeySize = ATTErrorCode(rawValue: 0x0C)
    /// Any other reason. bluetoothd 5.66 gives it where a device wants to be paired, and where the link broke meanwhile.
    public static let unlikelyError = ATTErrorCode(rawValue: 0x0E)
    /// The link would have to be encrypted.
    public static let insufficientEncryption = ATTErrorCode(rawValue: 0x0F)

    /// Whether a device that is not paired gives it where it wants to be.
    var asksForPairing: Bool {
        switch self {
        case .insufficientAuthentication, .insufficientKeySize, .unlikelyError, .insufficientEncryption: true
        default: false
        }
    }

    /// The code in an answer of bluetoothd that has no name for the error: the end of the message is all that it gives
    /// (`create_gatt_dbus_error` in its src/gatt-client.c). Nil where there is none.
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
    /// As in `0x03`.
    public var description: String { "0x" + HexDigit.text(UInt64(rawValue), 2) }
}
