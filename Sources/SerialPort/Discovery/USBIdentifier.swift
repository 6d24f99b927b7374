/// The vendor and product of a USB device, such as `1a86:7523`.
public struct USBIdentifier: Sendable, Hashable {
    /// The vendor's number, assigned by the USB-IF: `idVendor`.
    public var vendor: UInt16
    /// The product's number, assigned by the vendor: `idProduct`.
    public var product: UInt16

    /// Creates an identifier from a vendor and a product number.
    public init(vendor: UInt16, product: UInt16) {
        self.vendor = vendor
        self.product = product
    }

    /// Parses `VID:PID`, each with one to four hexadecimal digits.
    ///
    /// - Returns: nil for any other text.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let vendor = Self.number(parts[0]), let product = Self.number(parts[1]) else {
            return nil
        }
        self.init(vendor: vendor, product: product)
    }

    /// Parses the two numbers as sysfs writes them; nil if one is missing or invalid.
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
    /// The identifier as `lsusb` writes it: `1a86:7523`.
    public var description: String { "\(Self.digits(vendor)):\(Self.digits(product))" }

    /// Formats a vendor or product number as four lower-case hexadecimal digits.
    public static func digits(_ number: UInt16) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
