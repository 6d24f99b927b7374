import ArgumentParser
import LineProtocol

/// A speed as it is typed: 0 to 255, or a percentage.
struct SpeedArgument: ExpressibleByArgument {
    static let rule = "a speed is a number from 0 to 255, or a percentage from 0% to 100%"

    let speed: PumpSpeed

    init?(argument: String) {
        let isPercentage = argument.hasSuffix("%")
        let digits = isPercentage ? argument.dropLast() : argument[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit), let number = Int(digits) else { return nil }
        guard let speed = isPercentage ? PumpSpeed(percent: number) : PumpSpeed(pwm: number) else { return nil }
        self.speed = speed
    }

    /// The failure for `speed -1`, which the argument parser takes for an option.
    static func negativeNumber(in arguments: [String]) -> Failure? {
        guard let index = arguments.firstIndex(of: "speed"), index + 1 < arguments.count else { return nil }
        let value = arguments[index + 1]
        guard value.hasPrefix("-"), let first = value.dropFirst().first, first.isASCIIDigit else { return nil }
        return Failure(.usage, code: "usage", "'\(value)' is not a speed", hint: rule)
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
