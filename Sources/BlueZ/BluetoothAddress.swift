/// The address of an adapter or a device, such as `AA:BB:CC:DD:EE:FF`.
///
/// The address identifies a device. bluetoothd's object paths do not: after a restart of bluetoothd, or when an adapter
/// has got another number, they may stand for another device, or none.
public struct BluetoothAddress: Sendable, Hashable {
    private let bits: UInt64

    /// Parses six bytes in hexadecimal, separated by colons; nil if `text` has another form.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 17 else { return nil }
        var bits: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            if index % 3 == 2 {
                guard byte == UInt8(ascii: ":") else { return nil }
            } else {
                guard let value = HexDigit.value(of: byte) else { return nil }
                bits = bits << 4 | UInt64(value)
            }
        }
        self.bits = bits
    }

    /// Whether a random address with these bits is static: the device keeps such an address at least until it is
    /// switched off (Bluetooth Core 5.3, Vol 6, Part B, 1.3.2). Other random addresses are private, and change every
    /// few minutes.
    var isStaticIfRandom: Bool { bits >> 46 == 0b11 }
}

extension BluetoothAddress: CustomStringConvertible, Comparable {
    /// The address in upper case, bluetoothd's notation.
    public var description: String {
        let digits = Array(HexDigit.text(bits, 12).uppercased())
        return (0..<6).map { String(digits[$0 * 2..<$0 * 2 + 2]) }.joined(separator: ":")
    }

    public static func < (left: BluetoothAddress, right: BluetoothAddress) -> Bool { left.bits < right.bits }
}
