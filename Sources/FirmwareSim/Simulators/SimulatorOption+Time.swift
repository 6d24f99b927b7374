extension SimulatorOption {
    /// Parses a time as people type it: seconds, or a number with `ms`, `s`, `m` or `h`, such as `500ms`, `90` or
    /// `1.5h`.
    ///
    /// Returns nil if the text is no time, or if the time is 0, negative, or above 1,000,000 s.
    package static func time(_ text: String) -> Duration? {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
        let unit = units.first { text.hasSuffix($0.0) }
        guard let number = Double(text.dropLast(unit?.0.count ?? 0)) else { return nil }
        let seconds = number * (unit?.1 ?? 1)
        guard seconds <= 1_000_000 else { return nil }
        // A time below the resolution of `Duration` is 0, too.
        let time = Duration.seconds(max(0, seconds))
        return time > .zero ? time : nil
    }
}
