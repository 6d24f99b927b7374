import ArgumentParser
import LineProtocol

/// A speed as it is typed: 0 to 255, or a percentage.
enum SpeedArgument {
    private static let rule = "a speed is a number from 0 to 255, or a percentage from 0% to 100%"

    /// Reads a speed that was typed.
    ///
    /// - Throws: `ValidationError`, which says what a speed may be.
    static func typed(_ text: String) throws -> PumpSpeed {
        guard let speed = PumpSpeed(text) else { throw ValidationError(rule) }
        return speed
    }

    /// The failure for `speed -1`, which the argument parser takes for an option.
    static func negativeNumber(in arguments: [String]) -> Failure? {
        // Behind '--' are the arguments of another program.
        let words = CommandWords(arguments)
        guard words.command == SpeedCommand.self, let place = words.place, place + 1 < arguments.count else {
            return nil
        }
        let value = arguments[place + 1]
        guard value.hasPrefix("-"), Int(value.prefix(2)) != nil else { return nil }
        return Failure(.usage, code: "usage", "The value '\(value)' is invalid for '<speed>'", hint: rule)
    }
}
