import Glibc

/// The pump's temperature probes: an NTC of 10 kΩ at 25 °C, B 3950, between +5 V and the pin, 10 kΩ from the pin to
/// ground, read by a 10-bit ADC against 5 V.
///
/// The physics (``counts(atCelsius:)``) and the firmware's conversion (``celsius(fromCounts:)``) are separate, so that
/// a printed temperature is quantised as it is on a board: about 0.1 °C a count near skin temperature.
enum Thermistor {
    private static let zeroCelsius = 273.15
    private static let reference = 298.15
    private static let resistanceAtReference = 10_000.0
    private static let beta = 3950.0
    private static let seriesResistance = 10_000.0

    /// Returns the ADC reading, 0...1023, with the probe at a temperature in °C. At or below absolute zero, and for a
    /// NaN, 0.
    static func counts(atCelsius celsius: Double) -> Int {
        let kelvin = celsius + zeroCelsius
        guard kelvin > 0 else { return 0 }
        let resistance = resistanceAtReference * exp(beta * (1 / kelvin - 1 / reference))
        // ATmega328P datasheet, ADC conversion result: Vin * 1024 / Vref, truncated.
        return min(1023, Int(1024 * seriesResistance / (seriesResistance + resistance)))
    }

    /// Converts an ADC reading to °C as the firmware does, in AVR's 32-bit floats and without checks. The firmware
    /// takes 1023 for the full scale, which is 1024 by the datasheet.
    ///
    /// Both ends of the scale give absolute zero: 0 divides by zero, 1023 takes the logarithm of zero.
    static func celsius(fromCounts counts: Int) -> Float {
        let resistance = Float(seriesResistance) * (1023 / Float(counts) - 1)
        let inverse = 1 / Float(reference) + log(resistance / Float(resistanceAtReference)) / Float(beta)
        return 1 / inverse - Float(zeroCelsius)
    }
}
