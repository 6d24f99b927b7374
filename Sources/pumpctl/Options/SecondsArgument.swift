import ArgumentParser

/// A time: seconds, or a number with `ms`, `s`, `m` or `h`.
struct SecondsArgument: ExpressibleByArgument {
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

    var defaultValueDescription: String { "\(duration)" }
}
