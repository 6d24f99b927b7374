import LineProtocol

extension PumpStatusField {
    /// Which of the temperatures, as people are told of them.
    enum Temperature: String {
        case water, skin
        case single = "temp"
    }

    /// The temperature that the field names, whose value is then no number; nil for any other field.
    var temperature: Temperature? {
        switch name.lowercased() {
        case "water", "watertemp": .water
        case "skin", "skintemp": .skin
        case "temp": .single
        default: nil
        }
    }
}

extension PumpTemperatures {
    subscript(temperature: PumpStatusField.Temperature) -> ThermistorReading? {
        switch temperature {
        case .water: water
        case .skin: skin
        case .single: single
        }
    }
}
