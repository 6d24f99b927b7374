import TestSupport

/// A clock that runs faster than real time, like an emulated board.
struct FastClock: Clock {
    typealias Instant = ManualClock.Instant

    private static let factor = 5
    private let origin = ContinuousClock.now

    var now: Instant { Instant(offset: origin.duration(to: .now) * Self.factor) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await ContinuousClock().sleep(until: origin + deadline.offset / Self.factor)
    }
}
