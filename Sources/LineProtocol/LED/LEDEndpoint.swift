/// A value of the LED board that can be read and written: a row of the table of ``all``.
public struct LEDEndpoint: Sendable, Hashable {
    /// How a value is written.
    public enum Kind: Sendable, Hashable {
        /// On a line `0` or `1`.
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
    public var lineName: String { name.uppercased() }
}

/// A value of an endpoint.
public enum LEDValue: Sendable, Hashable {
    /// Off or on.
    case boolean(Bool)
}

extension LEDEndpoint.Kind {
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
    /// The value on a line.
    public var text: String {
        switch self {
        case .boolean(let isOn): isOn ? "1" : "0"
        }
    }

    /// Off for on, and on for off.
    public var opposite: LEDValue {
        switch self {
        case .boolean(let isOn): .boolean(!isOn)
        }
    }
}
