/// The condition of a temperature probe.
public enum ThermistorCondition: Sendable, Hashable {
    /// The probe measures the temperature at its place.
    case sound
    /// Broken or unplugged: the pin is pulled to ground, the ADC reads 0.
    case open
    /// Short-circuited: the pin is at +5 V, the ADC reads 1023.
    case shorted
    /// The firmware's conversion gives this number of °C, whatever the temperature.
    ///
    /// Firmware with other formulas prints `nan` or `inf` for a broken probe; this case stands in for such firmware.
    case reading(Float)

    /// Returns the temperature that the firmware measures when the real one is `celsius`.
    func reading(atCelsius celsius: Double) -> Float {
        switch self {
        case .sound: Thermistor.celsius(fromCounts: Thermistor.counts(atCelsius: celsius))
        case .open: Thermistor.celsius(fromCounts: 0)
        case .shorted: Thermistor.celsius(fromCounts: 1023)
        case .reading(let value): value
        }
    }
}
