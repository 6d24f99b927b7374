/// The reason why the pump's reading of the wearer's skin is unreliable, so that overheating may go unnoticed.
public enum SkinFault: String, Sendable, Hashable, CaseIterable {
    /// There is no thermistor: the status names none.
    case missing
    /// The reading is not a number, or can't be parsed.
    case unreadable
    /// The reading is lower than a working thermistor can give: the thermistor's wire is broken. At -273.1 °C the
    /// thermistor may also be short-circuited, because the firmware calculates absolute zero at both ends of the ADC's
    /// scale.
    case open
    /// The reading is higher than a working thermistor can give: the thermistor is short-circuited.
    case shorted
    /// A working thermistor can give this reading, but it is outside ``skinRange``: the thermistor has come off, or the
    /// wearer is in danger.
    case outOfRange = "out_of_range"

    /// The plausible temperatures of living skin under a cooling pad, in degrees Celsius. The limits are a choice of
    /// this library; the pump does not check them.
    ///
    /// Below 5 °C there is no skin at the sensor, or the skin is about to freeze. The pump itself stops above 40 °C,
    /// and nothing on a person is warmer than 45 °C.
    public static let skinRange = 5.0...45.0
}

extension PumpStatus {
    /// The reason why the skin's temperature in this status is unreliable; nil if it is reliable.
    public var skinFault: SkinFault? {
        guard let skin = temperatures.skin ?? temperatures.single else {
            return unreadSkin == nil ? .missing : .unreadable
        }
        return skin.skinFault
    }

    /// The skin's temperature as the pump wrote it, if it can't be parsed; nil otherwise.
    public var unreadSkin: String? {
        guard temperatures.skin == nil, temperatures.single == nil else { return nil }
        return otherFields.first { ["skin", "temp"].contains($0.temperatureName) }?.value
    }

    /// ``skinFault`` if the pump runs; nil otherwise, since the fault matters only while the pump runs.
    public var skinFaultWhileOn: SkinFault? { power == .on ? skinFault : nil }
}

extension ThermistorReading {
    /// The reason why this reading is unreliable as a temperature of skin; nil if it is reliable.
    public var skinFault: SkinFault? {
        if !celsius.isFinite { return .unreadable }
        if celsius < Self.plausibleRange.lowerBound { return .open }
        if celsius > Self.plausibleRange.upperBound { return .shorted }
        return SkinFault.skinRange.contains(celsius) ? nil : .outOfRange
    }
}
