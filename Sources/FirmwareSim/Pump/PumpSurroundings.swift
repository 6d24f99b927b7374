/// The inputs of the firmware besides its line: two temperature probes, a potentiometer, a button.
struct PumpSurroundings: Sendable {
    var heat: HeatModel
    var waterThermistor = ThermistorCondition.sound
    var skinThermistor = ThermistorCondition.sound
    /// The position of the speed potentiometer: an ADC reading, limited to 0...1023.
    var potentiometer: Int {
        didSet { potentiometer = min(max(potentiometer, 0), 1023) }
    }
    /// Whether the button was pressed since the firmware last looked.
    var buttonPressed = false
    /// The instant to which ``heat`` has been advanced.
    private var heatedUntil: Duration = .zero

    init(heat: HeatModel, potentiometer: Int) {
        self.heat = heat
        self.potentiometer = min(max(potentiometer, 0), 1023)
    }

    /// Advances the temperatures to an instant. The pump has run at `duty` since the last call.
    mutating func advance(to instant: Duration, duty: UInt8) {
        heat.advance(by: instant - heatedUntil, duty: duty)
        heatedUntil = instant
    }

    /// The water temperature as the firmware measures it, °C.
    var waterReading: Float { waterThermistor.reading(atCelsius: heat.water) }
    /// The skin temperature as the firmware measures it, °C.
    var skinReading: Float { skinThermistor.reading(atCelsius: heat.skin) }
}
