/// What the firmware senses besides its line: two temperature probes, a potentiometer, a button.
struct PumpSurroundings: Sendable {
    var heat: HeatModel
    var waterThermistor = ThermistorCondition.sound
    var skinThermistor = ThermistorCondition.sound
    /// Where the speed potentiometer stands: an ADC reading, 0...1023, beyond which it stops.
    var potentiometer: Int {
        didSet { potentiometer = min(max(potentiometer, 0), 1023) }
    }
    /// Whether the button was pressed since the firmware last looked.
    var buttonPressed = false
    /// Until when ``heat`` has been advanced.
    private var heatedUntil: Duration = .zero

    init(heat: HeatModel, potentiometer: Int) {
        self.heat = heat
        self.potentiometer = min(max(potentiometer, 0), 1023)
    }

    mutating func advance(to instant: Duration, duty: UInt8) {
        heat.advance(by: instant - heatedUntil, duty: duty)
        heatedUntil = instant
    }

    /// The firmware's idea of the water's temperature, °C.
    var waterReading: Float { waterThermistor.reading(atCelsius: heat.water) }
    /// The firmware's idea of the skin's temperature, °C.
    var skinReading: Float { skinThermistor.reading(atCelsius: heat.skin) }
}
