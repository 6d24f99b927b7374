/// The content of a status line.
public struct PumpStatus: Sendable, Hashable {
    /// The state of the pump.
    public enum Power: String, Sendable, Hashable {
        /// The pump is running, perhaps at speed 0.
        case on
        /// The pump is off.
        case off
        /// The 30-minute limit or a thermistor's reading has stopped the pump. The pump stays in this state until it
        /// receives `OFF`, or the button is pressed.
        case error
        /// The line names no state, or a state that the protocol does not define; its text is in
        /// ``PumpStatus/otherFields``.
        case unknown
    }

    /// The state of the pump.
    public var power: Power = .unknown
    /// The speed in whole percent, truncated, 0 to 100; nil if the line has none. The PWM duty can't be derived from
    /// the percentage.
    public var speedPercent: UInt8?
    /// The time for which the pump has run, in whole minutes, truncated; nil if the line has none.
    public var runtimeMinutes: UInt16?
    /// The time for which the pump may still run, in whole minutes, truncated; nil if the line has none.
    public var remainingMinutes: UInt16?
    /// The readings of the thermistors.
    public var temperatures = PumpTemperatures()
    /// Fields that are unknown, or whose value can't be parsed, in the order of the line.
    public var otherFields: [PumpStatusField] = []

    /// Creates an empty status.
    public init() {}
}

/// A field of a status or temperature line, kept as text.
public struct PumpStatusField: Sendable, Hashable {
    /// The text before the colon.
    public var name: String
    /// The text after the colon; empty if there was no colon.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension PumpStatusField {
    /// The short name of the temperature in this field, whose value could not be parsed: `water`, `skin`, or `temp`.
    /// nil if the field is no temperature.
    public var temperatureName: String? {
        switch name.lowercased() {
        case "water", "watertemp": "water"
        case "skin", "skintemp": "skin"
        case "temp": "temp"
        default: nil
        }
    }
}

/// The readings of the pump's thermistors. A firmware reports water and skin, or a single thermistor, or none.
public struct PumpTemperatures: Sendable, Hashable {
    /// The temperature of the cooling water; nil if the line has none that can be parsed.
    public var water: ThermistorReading?
    /// The temperature of the wearer's skin; nil if the line has none that can be parsed. Above 40.0 °C the firmware
    /// stops the pump.
    public var skin: ThermistorReading?
    /// The temperature from firmware with a single thermistor; nil if the line has none that can be parsed.
    public var single: ThermistorReading?

    /// Fields of a temperature line that are unknown, or whose value can't be parsed, in the order of the line. Such
    /// fields of a status line are in ``PumpStatus/otherFields``; ``PumpState`` copies the ones named like a
    /// temperature here.
    public var otherFields: [PumpStatusField] = []

    /// Whether there is any reading. Firmware without thermistors reports none.
    public var isReported: Bool { water != nil || skin != nil || single != nil }

    /// Creates readings; nil means that the thermistor is not reported.
    public init(water: ThermistorReading? = nil, skin: ThermistorReading? = nil, single: ThermistorReading? = nil) {
        self.water = water
        self.skin = skin
        self.single = single
    }
}

/// A temperature that the firmware has calculated from a thermistor's resistance.
public struct ThermistorReading: Sendable, Hashable {
    /// The temperatures that a 10 kΩ NTC thermistor of B 3950 can withstand, in degrees Celsius. A reading outside this
    /// range means a broken wire or a short circuit.
    public static let plausibleRange = -40.0...125.0

    /// The temperature in degrees Celsius as printed, with one decimal. The temperature may be `nan` or infinite.
    public var celsius: Double

    /// Creates a reading from degrees Celsius.
    public init(celsius: Double) { self.celsius = celsius }

    /// Whether a working thermistor can have this reading. If not, the reading says nothing about the temperature.
    public var isPlausible: Bool { Self.plausibleRange.contains(celsius) }

    public static func == (left: ThermistorReading, right: ThermistorReading) -> Bool {
        left.celsius == right.celsius || (left.celsius.isNaN && right.celsius.isNaN)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(celsius.isNaN ? nil : celsius)
    }
}
