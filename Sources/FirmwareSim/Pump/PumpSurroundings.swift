/// What the firmware senses besides its line: two temperature probes, a potentiometer, a button.
struct PumpSurroundings: Sendable {
    var heat: HeatModel
    var waterThermistor = ThermistorCondition.sound
    var skinThermistor = ThermistorCondition.sound
    /// 0...1023. To begin with, where the potentiometer asks for the speed that ON starts at.
    var potentiometer = 716
    /// Whether the button was pressed since the firmware last looked.
    var buttonPressed = false
    /// Until when ``heat`` has been advanced.
    private var heatedUntil: Duration = .zero

    init(heat: HeatModel) {
        self.heat = heat
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
