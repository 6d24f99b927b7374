/// The duty of the pump's PWM output, from 0 (on, but still) to 255 (full speed).
public struct PumpSpeed: Sendable, Hashable, Comparable {
    /// The speed to which `ON` sets the pump: PWM 180, 70 %.
    public static let initial = PumpSpeed(unchecked: 180)

    /// The duty of the PWM output, 0 to 255.
    public let pwm: UInt8

    /// The whole percent that the firmware shows for this duty: `floor(pwm * 100 / 255)`. 200 gives 78.
    public var percent: Int { Int(pwm) * 100 / 255 }

    /// Creates a speed from a duty of 0 to 255; nil for any other number.
    ///
    /// Only numbers may be sent as a speed: the firmware reads text without digits as 0, which makes the pump stand
    /// still.
    public init?(pwm: Int) {
        guard let pwm = UInt8(exactly: pwm) else { return nil }
        self.pwm = pwm
    }

    /// Creates a speed with the smallest duty that the firmware shows as `percent`, 0 to 100; nil for any other number.
    public init?(percent: Int) {
        guard (0...100).contains(percent) else { return nil }
        pwm = UInt8((percent * 255 + 99) / 100)
    }

    /// Parses a speed as a person writes it: `200` is a duty, 0 to 255, and `60%` a percentage, 0 to 100; nil for any
    /// other text.
    public init?(_ text: String) {
        let isPercentage = text.hasSuffix("%")
        let digits = isPercentage ? text.dropLast() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = Int(digits), let speed = isPercentage ? Self(percent: number) : Self(pwm: number)
        else { return nil }
        self = speed
    }

    private init(unchecked pwm: UInt8) { self.pwm = pwm }

    public static func < (left: PumpSpeed, right: PumpSpeed) -> Bool { left.pwm < right.pwm }
}

/// A command to the pump.
public enum PumpCommand: Sendable, Hashable {
    /// Starts the pump at PWM 180. A running pump returns to 180, and the 30 minutes after which the firmware stops it
    /// begin again.
    case on
    /// Stops the pump, and ends its error state.
    case off
    /// Sets the speed of a running pump.
    case speed(PumpSpeed)
    /// Queries the status.
    case status
    /// Queries the temperatures.
    case temperature

    /// The command as it is written on the wire, without its line end.
    public var text: String {
        switch self {
        case .on: "ON"
        case .off: "OFF"
        case .speed(let speed): "SPEED:\(speed.pwm)"
        case .status: "STATUS"
        case .temperature: "TEMP"
        }
    }
}
