/// Turns the readings of the speed potentiometer into PWM duties, and keeps noise from changing the speed.
///
/// The pump protocol: the potentiometer is read every 100 ms while the pump runs. A loop turn takes longer, so the
/// firmware reads the potentiometer once a turn.
struct PotentiometerFilter: Sendable, Hashable {
    /// The last returned duty; at first the duty at which ON starts.
    private var taken: UInt8 = 180

    /// Returns the duty to set for a reading of 0...1023; nil if the duty is within 5 of the last returned duty, or at
    /// first of 180.
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
