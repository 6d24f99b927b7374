import ArgumentParser
import FirmwareSim
import LineProtocol

/// A time as typed: a number of seconds, or a number with `ms`, `s`, `m` or `h`.
struct SecondsArgument: ExpressibleByArgument {
    static let rule = "use a number above 0, in seconds or with one unit, e.g. 500ms, 90s, 10m or 2h; 1000000 s at most"

    let duration: Duration

    init?(argument: String) {
        guard let duration = SimulatorOption.time(argument) else { return nil }
        self.duration = duration
    }

    /// Parses a typed time.
    ///
    /// - Throws: `ValidationError` with the accepted forms.
    static func typed(_ text: String) throws -> SecondsArgument {
        guard let time = SecondsArgument(argument: text) else { throw ValidationError(rule) }
        return time
    }

}

extension SecondsArgument: CustomStringConvertible {
    /// The time in seconds, as a user can type it: `90s`.
    var description: String { "\(duration.inSeconds)s" }
}
