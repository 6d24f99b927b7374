/// The vendor and the product of a USB device, as in `1a86:7523`.
public struct USBIdentifier: Sendable, Hashable {
    /// Who made it, by the number that the USB-IF gave: `idVendor`.
    public var vendor: UInt16
    /// What it is, by a number of its vendor's: `idProduct`.
    public var product: UInt16

    /// An identifier with both its parts.
    public init(vendor: UInt16, product: UInt16) {
        self.vendor = vendor
        self.product = product
    }

    /// Reads `VID:PID`, each with one to four hexadecimal digits; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let vendor = Self.number(parts[0]), let product = Self.number(parts[1]) else {
            return nil
        }
        self.init(vendor: vendor, product: product)
    }

    /// Reads the two numbers as sysfs has them.
    init?(vendor: String?, product: String?) {
        guard let vendor, let product else { return nil }
        self.init("\(vendor):\(product)")
    }

    private static func number(_ digits: some StringProtocol) -> UInt16? {
        guard (1...4).contains(digits.utf8.count), digits.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(digits, radix: 16)
    }
}

extension USBIdentifier: CustomStringConvertible {
    /// As `lsusb` writes it: `1a86:7523`.
    public var description: String { "\(Self.digits(vendor)):\(Self.digits(product))" }

    /// Four hexadecimal digits in lower case.
    public static func digits(_ number: UInt16) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
