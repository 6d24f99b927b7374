/// The reason why the pump's reading of the wearer's skin is unreliable, so that overheating may go unnoticed.
public enum SkinFault: String, Sendable, Hashable, CaseIterable {
    /// There is no thermistor: the status names none.
    case missing
    /// The reading is not a number, or can't be parsed.
    case unreadable
    /// Colder than a working thermistor can read: its wire is broken.
    case open
    /// Hotter than a working thermistor can read: it is short-circuited.
    case shorted
    /// A working thermistor can have this reading, but skin under a cooling pad can't be so cold or warm: the
    /// thermistor has come off, or the wearer is in danger.
    case outOfRange = "out_of_range"

    /// The range of living skin under a cooling pad, in degrees Celsius: a policy of this host, not a fact of the pump.
    ///
    /// Below 5 °C there is no skin at the sensor, or the skin is about to freeze. The pump itself stops above 40 °C,
    /// and nothing on a person is warmer than 45 °C.
    public static let skinRange = 5.0...45.0
}

extension PumpStatus {
    /// The fault of the skin's temperature; nil if the temperature is reliable.
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

    /// The fault of the skin's temperature while the pump runs, when it matters; nil otherwise.
    public var skinFaultWhileOn: SkinFault? { power == .on ? skinFault : nil }
}

extension ThermistorReading {
    /// The fault of this reading, taken as the temperature of skin; nil if there is none.
    public var skinFault: SkinFault? {
        if !celsius.isFinite { return .unreadable }
        if celsius < Self.plausibleRange.lowerBound { return .open }
        if celsius > Self.plausibleRange.upperBound { return .shorted }
        return SkinFault.skinRange.contains(celsius) ? nil : .outOfRange
    }
}
