import ArgumentParser
import LineProtocol

/// A time: seconds, or a number with `ms`, `s`, `m` or `h`.
struct SecondsArgument: ExpressibleByArgument {
    static let rule = "give a time above 0, up to 1000000 s, as 500ms, 90s, 10m or 2h"

    let duration: Duration

    init?(argument: String) {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
        let unit = units.first { argument.hasSuffix($0.0) }
        let number = argument.dropLast(unit?.0.count ?? 0)
        guard let value = Double(number), value > 0, value.isFinite else { return nil }
        let seconds = value * (unit?.1 ?? 1)
        guard seconds <= 1_000_000 else { return nil }
        duration = .seconds(seconds)
    }

    /// Reads a time that was typed.
    ///
    /// - Throws: `ValidationError`, which says what a time may be.
    static func typed(_ text: String) throws -> SecondsArgument {
        guard let time = SecondsArgument(argument: text) else { throw ValidationError(rule) }
        return time
    }

}

extension SecondsArgument: CustomStringConvertible {
    /// As it is typed, in seconds.
    var description: String { "\(duration.inSeconds)s" }
}
