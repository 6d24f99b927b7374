/// An endpoint of the LED board: a value that can be read and written. ``all`` contains all endpoints. The endpoint of
/// a link is something else: the name of a whole device.
public struct LEDEndpoint: Sendable, Hashable {
    /// The format of a value.
    public enum Kind: Sendable, Hashable {
        /// `0` or `1` on a line.
        case boolean
    }

    /// The name of the value, such as `led`. On a line it is written in capitals.
    public let name: String
    /// The UUID of the BLE characteristic with the value.
    public let characteristic: String
    /// The format of the value.
    public let kind: Kind

    /// The LED itself.
    public static let led = LEDEndpoint(
        name: "led", characteristic: "957312E0-2354-11EB-9F10-FBC30A62CF38", kind: .boolean)

    /// All endpoints of the board.
    public static let all = [led]

    /// Returns the endpoint with this name; nil if there is none.
    public init?(name: String) {
        guard let endpoint = Self.all.first(where: { $0.name == name }) else { return nil }
        self = endpoint
    }

    private init(name: String, characteristic: String, kind: Kind) {
        self.name = name
        self.characteristic = characteristic
        self.kind = kind
    }

    /// The name as it is written on a line, in capitals.
    public var lineName: String { name.uppercased() }
}

/// A value of an endpoint.
public enum LEDValue: Sendable, Hashable {
    /// Off or on.
    case boolean(Bool)
}

extension LEDEndpoint.Kind {
    /// Parses a value in this format, as it is written on a line; nil if the text is not a valid value.
    public func value(text: some StringProtocol) -> LEDValue? {
        switch (self, text) {
        case (.boolean, "0"): .boolean(false)
        case (.boolean, "1"): .boolean(true)
        default: nil
        }
    }
}

extension LEDValue {
    /// The value as it is written on a line.
    public var text: String {
        switch self {
        case .boolean(let isOn): isOn ? "1" : "0"
        }
    }

    /// The opposite value: off for on, and on for off.
    public var opposite: LEDValue {
        switch self {
        case .boolean(let isOn): .boolean(!isOn)
        }
    }
}
