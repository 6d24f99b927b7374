/// Turns the speed potentiometer's readings into PWM duties and keeps its noise from setting the speed.
///
/// The pump protocol reads it every 100 ms while the pump runs; a loop turn takes longer, so that is once a turn.
struct PotentiometerFilter: Sendable, Hashable {
    private var taken: UInt8 = 180

    /// The duty to set, if `reading` (0...1023) is far enough from the last one taken.
    mutating func take(_ reading: Int) -> UInt8? {
        let duty = Self.duty(for: reading)
        guard abs(Int(duty) - Int(taken)) > 5 else { return nil }
        taken = duty
        return duty
    }

    /// Below 20: 0. From there, Arduino's `map(reading, 20, 1023, 10, 255)`, which truncates.
    static func duty(for reading: Int) -> UInt8 {
        guard reading >= 20 else { return 0 }
        return UInt8((min(reading, 1023) - 20) * (255 - 10) / (1023 - 20) + 10)
    }
}
