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
}
