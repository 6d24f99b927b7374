/// A value of the LED board that can be read and written: a row of the table of ``all``.
public struct LEDEndpoint: Sendable, Hashable {
    /// How a value is written.
    public enum Kind: Sendable, Hashable {
        /// Over BLE one byte, 0 = off, else on; read also as a number of 2 or 4 bytes, the lowest first, of which all but
        /// the first are 0, as an ESP32's `setValue(int)` makes it. On a line `0` or `1`.
        case boolean
    }

    /// What people call it. On a line it is written in capitals.
    public let name: String
    /// The BLE characteristic that holds it.
    public let characteristic: String
    /// How its value is written.
    public let kind: Kind

    /// The LED.
    public static let led = LEDEndpoint(
        name: "led", characteristic: "957312E0-2354-11EB-9F10-FBC30A62CF38", kind: .boolean)

    /// The table.
    public static let all = [led]

    /// The endpoint of that name; nil if there is none.
    public init?(name: String) {
        guard let endpoint = Self.all.first(where: { $0.name == name }) else { return nil }
        self = endpoint
    }

    private init(name: String, characteristic: String, kind: Kind) {
        self.name = name
        self.characteristic = characteristic
        self.kind = kind
    }

    /// The name on a line.
    var lineName: String { name.uppercased() }

    /// The line that tells what its characteristic holds, without its end; where those bytes are no value, in
    /// hexadecimals, which are no value on a line either.
    public func line(bytes: [UInt8]) -> String {
        let digits = bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(lineName):\(kind.value(bytes: bytes)?.text ?? "0x" + digits)"
    }
}

/// A value of an endpoint.
public enum LEDValue: Sendable, Hashable {
    /// Off or on.
    case boolean(Bool)
}

extension LEDEndpoint.Kind {
    /// The value that a characteristic holds; nil if those bytes are none.
    public func value(bytes: [UInt8]) -> LEDValue? {
        switch self {
        case .boolean:
            [1, 2, 4].contains(bytes.count) && bytes.dropFirst().allSatisfy { $0 == 0 } ? .boolean(bytes[0] != 0) : nil
        }
    }

    /// The value that stands on a line; nil if that text is none.
    public func value(text: some StringProtocol) -> LEDValue? {
        switch (self, text) {
        case (.boolean, "0"): .boolean(false)
        case (.boolean, "1"): .boolean(true)
        default: nil
        }
    }
}

extension LEDValue {
    /// What a characteristic is written to set it.
    public var bytes: [UInt8] {
        switch self {
        case .boolean(let isOn): [isOn ? 1 : 0]
        }
    }

    /// The value on a line.
    public var text: String {
        switch self {
        case .boolean(let isOn): isOn ? "1" : "0"
        }
    }
}
