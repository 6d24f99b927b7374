/// Turns the readings of the speed potentiometer into PWM duties, and keeps noise from changing the speed.
///
/// The pump protocol: the potentiometer is read every 100 ms while the pump runs. A loop turn takes longer, so the
/// firmware reads it once a turn.
struct PotentiometerFilter: Sendable, Hashable {
    private var taken: UInt8 = 180

    /// Returns the duty to set; nil if it is within 5 of the last duty taken. A reading is 0...1023.
    mutating func take(_ reading: Int) -> UInt8? {
        let duty = Self.duty(for: reading)
        guard abs(Int(duty) - Int(taken)) > 5 else { return nil }
        taken = duty
        return duty
    }

    /// Returns 0 for a reading below 20, and otherwise Arduino's `map(reading, 20, 1023, 10, 255)`, which truncates.
    static func duty(for reading: Int) -> UInt8 {
        guard reading >= 20 else { return 0 }
        return UInt8((min(reading, 1023) - 20) * (255 - 10) / (1023 - 20) + 10)
    }
}
