/// Why what the pump says of the wearer's skin can't be relied on, so that overheating may go unnoticed.
public enum SkinFault: String, Sendable, Hashable, CaseIterable {
    /// No thermistor: the status names none.
    case missing
    /// The status has a reading that is no number, or one that can't be read.
    case unreadable
    /// Colder than a working thermistor can read: its wire is broken.
    case open
    /// Hotter than a working thermistor can read: it is short-circuited.
    case shorted
    /// What a thermistor can read, and skin under a cooling pad can't be: it has come off, or the wearer is in danger.
    case outOfRange = "out_of_range"

    /// What living skin under a cooling pad reads, in degrees Celsius: a policy of this host, not a fact of the pump.
    ///
    /// Below 5 °C there is no skin at the sensor, or skin that is about to freeze; the pump itself stops above 40 °C, and
    /// nothing on a person is warmer than 45 °C.
    public static let skinRange = 5.0...45.0
}

extension PumpStatus {
    /// What is wrong with the skin's temperature; nil where it can be relied on.
    public var skinFault: SkinFault? {
        guard let skin = temperatures.skin ?? temperatures.single else {
            return unreadSkin == nil ? .missing : .unreadable
        }
        return skin.skinFault
    }

    /// The skin's temperature as the pump wrote it, if it can't be read.
    public var unreadSkin: String? {
        guard temperatures.skin == nil, temperatures.single == nil else { return nil }
        return otherFields.first { ["skin", "temp"].contains($0.temperatureName) }?.value
    }

    /// What is wrong with the skin's temperature while it matters: the pump runs.
    public var skinFaultWhileOn: SkinFault? { power == .on ? skinFault : nil }
}

extension ThermistorReading {
    /// What is wrong with it as a reading of skin; nil where nothing is.
    public var skinFault: SkinFault? {
        if !celsius.isFinite { return .unreadable }
        if celsius < Self.plausibleRange.lowerBound { return .open }
        if celsius > Self.plausibleRange.upperBound { return .shorted }
        return SkinFault.skinRange.contains(celsius) ? nil : .outOfRange
    }
}
