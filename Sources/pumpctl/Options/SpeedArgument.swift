import ArgumentParser
import LineProtocol

/// A typed speed: 0 to 255, or a percentage.
enum SpeedArgument {
    private static let rule = "a speed must be 0 to 255, or 0% to 100%"

    /// Parses a typed speed.
    ///
    /// - Throws: `ValidationError` with the accepted forms.
    static func typed(_ text: String) throws -> PumpSpeed {
        guard let speed = PumpSpeed(text) else { throw ValidationError(rule) }
        return speed
    }
}
