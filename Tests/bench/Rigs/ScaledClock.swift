import DeviceTestKit

/// A clock that runs faster or slower than real time, for hosts and shares of an emulated board.
struct ScaledClock: Clock {
    typealias Instant = ManualClock.Instant

    /// For hosts that shall not wait for long. The emulated board is faster than a real one.
    static let fast = ScaledClock(speed: 5)
    /// For shares, which withhold a reply that is later than 3 s. On a busy machine the emulated board may be later.
    static let slow = ScaledClock(speed: 0.2)

    private let speed: Double
    private let origin = ContinuousClock.now

    /// - Parameter speed: The number of seconds that pass on this clock in one second; greater than 0.
    private init(speed: Double) { self.speed = speed }

    var now: Instant { Instant(offset: origin.duration(to: .now) * speed) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await ContinuousClock().sleep(until: origin + deadline.offset / speed)
    }
}
