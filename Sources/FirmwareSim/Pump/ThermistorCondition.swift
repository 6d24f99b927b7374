/// What state a temperature probe is in.
public enum ThermistorCondition: Sendable, Hashable {
    /// It measures the temperature at its place.
    case sound
    /// Broken or unplugged: the pin is pulled to ground, the ADC reads 0.
    case open
    /// Short-circuited: the pin is at +5 V, the ADC reads 1023.
    case shorted
    /// The firmware's conversion ends with this number of °C, whatever the temperature.
    ///
    /// Firmware that computes with other formulas prints `nan` or `inf` for a broken probe; this stands in for it.
    case reading(Float)

    /// What the firmware takes for the temperature when it is really `celsius`.
    func reading(atCelsius celsius: Double) -> Float {
        switch self {
        case .sound: Thermistor.celsius(fromCounts: Thermistor.counts(atCelsius: celsius))
        case .open: Thermistor.celsius(fromCounts: 0)
        case .shorted: Thermistor.celsius(fromCounts: 1023)
        case .reading(let value): value
        }
    }
}
