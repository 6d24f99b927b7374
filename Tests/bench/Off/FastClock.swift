import DeviceTestKit

/// A clock that runs five times as fast as real time, for hosts of an emulated board, which is faster than a real one.
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
