import LineProtocol

/// A pump's status as programs are told of it.
struct PumpStatusRecord: Encodable {
    var ok = true
    var state: String
    var speedPercent: Int?
    var runtimeMinutes: Int?
    var remainingMinutes: Int?
    var temperatures: PumpTemperaturesRecord
    var skinFault: SkinFault?
    var other: [String: String]?

    enum CodingKeys: String, CodingKey {
        case ok, state, other
        case skinFault = "skin_fault"
        case speedPercent = "speed_percent"
        case runtimeMinutes = "runtime_min"
        case remainingMinutes = "remaining_min"
    }

    init(_ status: PumpStatus) {
        state = status.power.rawValue
        speedPercent = status.speedPercent.map(Int.init)
        runtimeMinutes = status.runtimeMinutes.map(Int.init)
        remainingMinutes = status.remainingMinutes.map(Int.init)
        temperatures = PumpTemperaturesRecord(status.temperatures, status.otherFields)
        skinFault = status.skinFaultWhileOn
        other = PumpStatusField.dictionary(status.otherFields)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ok, forKey: .ok)
        try container.encode(state, forKey: .state)
        try container.encodeIfPresent(speedPercent, forKey: .speedPercent)
        try container.encodeIfPresent(runtimeMinutes, forKey: .runtimeMinutes)
        try container.encodeIfPresent(remainingMinutes, forKey: .remainingMinutes)
        try container.encodeIfPresent(skinFault?.rawValue, forKey: .skinFault)
        try container.encodeIfPresent(other, forKey: .other)
        try temperatures.encode(to: encoder)
    }
}

/// The temperatures as programs are told of them: a number only where the thermistor can be believed.
struct PumpTemperaturesRecord: Encodable {
    var water: ThermistorReading?
    var skin: ThermistorReading?
    var single: ThermistorReading?
    /// Those that are named, and without a number.
    private var unreadable: [CodingKeys]

    enum CodingKeys: String, CodingKey {
        case water = "water_temp_c"
        case skin = "skin_temp_c"
        case single = "temp_c"
        case faults = "sensor_faults"
        case isReported = "temperatures_reported"
    }

    /// - Parameter otherFields: What the same line says beside them.
    init(_ temperatures: PumpTemperatures, _ otherFields: [PumpStatusField]) {
        water = temperatures.water
        skin = temperatures.skin
        single = temperatures.single
        unreadable = otherFields.compactMap { CodingKeys($0.temperature) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var faults: [String] = []
        for (key, reading) in [(CodingKeys.water, water), (.skin, skin), (.single, single)] {
            guard let reading else {
                if unreadable.contains(key) { try container.encodeNil(forKey: key) }
                continue
            }
            if reading.isPlausible {
                try container.encode(reading.celsius, forKey: key)
            } else {
                try container.encodeNil(forKey: key)
                faults.append(key.rawValue)
            }
        }
        if !faults.isEmpty { try container.encode(faults, forKey: .faults) }
        if water == nil, skin == nil, single == nil { try container.encode(false, forKey: .isReported) }
    }
}

extension PumpTemperaturesRecord.CodingKeys {
    fileprivate init?(_ temperature: PumpStatusField.Temperature?) {
        switch temperature {
        case .water: self = .water
        case .skin: self = .skin
        case .single: self = .single
        case nil: return nil
        }
    }
}

extension PumpStatusField {
    /// Fields by their names, the first where one comes again; nil where there is none.
    fileprivate static func dictionary(_ fields: [PumpStatusField]) -> [String: String]? {
        fields.isEmpty ? nil : Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
    }
}

/// The answer to TEMP as programs are told of it.
struct PumpTemperatureReplyRecord: Encodable {
    var ok = true
    var temperatures: PumpTemperaturesRecord
    var other: [String: String]?

    enum CodingKeys: String, CodingKey { case ok, other }

    init(_ temperatures: PumpTemperatures) {
        self.temperatures = PumpTemperaturesRecord(temperatures, temperatures.otherFields)
        other = PumpStatusField.dictionary(temperatures.otherFields)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ok, forKey: .ok)
        try container.encodeIfPresent(other, forKey: .other)
        try temperatures.encode(to: encoder)
    }
}

/// What a change brought about, as programs are told of it: nothing that was not read.
struct PumpChangeRecord: Encodable {
    var ok = true
    var state: String
    var speedPWM: Int?
    var speedPercent: Int?
    /// What is wrong with the skin's temperature while the pump runs.
    var skinFault: SkinFault?

    enum CodingKeys: String, CodingKey {
        case ok, state
        case speedPWM = "speed_pwm"
        case speedPercent = "speed_percent"
        case skinFault = "skin_fault"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ok, forKey: .ok)
        try container.encode(state, forKey: .state)
        try container.encodeIfPresent(speedPWM, forKey: .speedPWM)
        try container.encodeIfPresent(speedPercent, forKey: .speedPercent)
        try container.encodeIfPresent(skinFault?.rawValue, forKey: .skinFault)
    }
}
