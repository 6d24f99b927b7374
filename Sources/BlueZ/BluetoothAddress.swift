/// The address of an adapter or a device, as `AA:BB:CC:DD:EE:FF`.
///
/// A device is known by it: the paths that bluetoothd gives are another device's, or nobody's, once an adapter has got
/// another number or bluetoothd was started anew.
public struct BluetoothAddress: Sendable, Hashable {
    private let bits: UInt64

    /// Reads six bytes of two hexadecimal digits with colons between; nil where `text` is none.
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

    /// Whether a random address with these bits is static: one that the device keeps, at least until it is switched off
    /// (Bluetooth Core 5.3, Vol 6, Part B, 1.3.2). The others are private, and change every few minutes.
    var isStaticIfRandom: Bool { bits >> 46 == 0b11 }
}

extension BluetoothAddress: CustomStringConvertible, Comparable {
    /// In upper case, as bluetoothd writes it.
    public var description: String {
        let digits = Array(HexDigit.text(bits, 12).uppercased())
        return (0..<6).map { String(digits[$0 * 2..<$0 * 2 + 2]) }.joined(separator: ":")
    }

    public static func < (left: BluetoothAddress, right: BluetoothAddress) -> Bool { left.bits < right.bits }
}
