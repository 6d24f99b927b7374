/// What a status line says of the pump.
public struct PumpStatus: Sendable, Hashable {
    /// Whether the pump runs.
    public enum Power: String, Sendable, Hashable {
        /// It runs, perhaps at speed 0.
        case on
        /// It does not.
        case off
        /// It was stopped by the 30-minute limit or by overheating, and stays so until `OFF`.
        case error
        /// The line names no state, or one that is not known; ``PumpStatus/otherFields`` keeps its text.
        case unknown
    }

    /// Whether the pump runs.
    public var power: Power = .unknown
    /// The speed in whole percent, truncated, 0 to 100: a PWM value can't be had back from it.
    public var speedPercent: UInt8?
    /// How long the pump has run, in whole minutes, truncated.
    public var runtimeMinutes: UInt16?
    /// How long it will go on to run, in whole minutes, truncated.
    public var remainingMinutes: UInt16?
    /// What each thermistor reads.
    public var temperatures = PumpTemperatures()
    /// Fields that this library does not know, or whose value it can't read, in the order of the line.
    public var otherFields: [PumpStatusField] = []

    /// A status that says nothing.
    public init() {}
}

/// A field of a status or a temperature line that is kept as it came.
public struct PumpStatusField: Sendable, Hashable {
    /// What stood before the colon.
    public var name: String
    /// What stood behind it; empty if there was no colon.
    public var value: String

    /// A field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension PumpStatusField {
    /// The name that people use for the temperature that the field names, and whose value can't be read; nil for any other
    /// field.
    public var temperatureName: String? {
        switch name.lowercased() {
        case "water", "watertemp": "water"
        case "skin", "skintemp": "skin"
        case "temp": "temp"
        default: nil
        }
    }
}

/// What the pump's thermistors read. A firmware has either water and skin, or the one.
public struct PumpTemperatures: Sendable, Hashable {
    /// The cooling water.
    public var water: ThermistorReading?
    /// The wearer's skin. Above 40.0 °C the pump stops.
    public var skin: ThermistorReading?
    /// The only thermistor of the one-thermistor firmware.
    public var single: ThermistorReading?

    /// Fields of a temperature line that this library does not know, or whose value it can't read, in the order of the
    /// line. Those of a status line are in ``PumpStatus/otherFields``; a ``PumpState`` keeps those of them that name a
    /// temperature here.
    public var otherFields: [PumpStatusField] = []

    /// Whether there is any reading. Firmware without thermistors has none.
    public var isReported: Bool { water != nil || skin != nil || single != nil }

    /// Readings; nil where there is no such thermistor.
    public init(water: ThermistorReading? = nil, skin: ThermistorReading? = nil, single: ThermistorReading? = nil) {
        self.water = water
        self.skin = skin
        self.single = single
    }
}

/// A temperature as the firmware works it out from a thermistor's resistance.
public struct ThermistorReading: Sendable, Hashable {
    /// What a 10 kΩ NTC of B 3950 can stand, in degrees Celsius. A reading outside is a broken wire or a short circuit.
    public static let plausibleRange = -40.0...125.0

    /// Degrees Celsius as printed, to one decimal; may be `nan` or infinite.
    public var celsius: Double

    /// A reading of `celsius` degrees.
    public init(celsius: Double) { self.celsius = celsius }

    /// Whether a working thermistor can read this. If not, the number says nothing of the temperature.
    public var isPlausible: Bool { Self.plausibleRange.contains(celsius) }

    public static func == (left: ThermistorReading, right: ThermistorReading) -> Bool {
        left.celsius == right.celsius || (left.celsius.isNaN && right.celsius.isNaN)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(celsius.isNaN ? nil : celsius)
    }
}
