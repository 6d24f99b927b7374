/// How long connecting may take.
public struct ConnectPatience: Sendable, Hashable {
    /// One attempt, until the services are known.
    public var attempt: Duration
    /// All attempts together, with the search for the device.
    public var total: Duration
    /// The search for a device that is not in sight.
    public var search: Duration

    public init(
        attempt: Duration = .seconds(20), total: Duration = .seconds(60), search: Duration = .seconds(10)
    ) {
        self.search = search
        self.attempt = attempt
        self.total = total
    }
}

/// What to do when an attempt to connect has failed.
struct ConnectRetries {
    /// What to do next.
    enum Step: Equatable {
        case retry(after: Duration)
        case giveUp
    }

    /// How often what passes by itself is tried again.
    static let passingLimit = 9
    static let passingPause = Duration.milliseconds(250)

    private var passing = 0
    private var pauses = BackOff.usual

    /// - Parameter error: What the last attempt failed with.
    mutating func next(after error: BLEError) -> Step {
        if Self.isPassing(error) {
            passing += 1
            return passing <= Self.passingLimit ? .retry(after: Self.passingPause) : .giveUp
        }
        switch error.code {
        // It was there and went, by bluetoothd's word; or it did not come in sight.
        case .notFound where error.name == nil: return .giveUp
        case .notFound, .busy, .disconnected, .timedOut, .failed:
            return pauses.next().map { .retry(after: $0) } ?? .giveUp
        case .notRunning, .noBus, .noAdapter, .adapterOff, .adapterFull, .notPermitted, .notPaired, .unsupported,
            .invalidArgument, .closed, .cancelled:
            return .giveUp
        }
    }

    /// Whether the radio was merely busy with something else. bluetoothd has no names for these failures, but words that
    /// stand for a number each; bleak's retries know the same two (bleak#1154).
    private static func isPassing(_ error: BLEError) -> Bool {
        guard error.name == .bluez("Failed"), let message = error.message else { return false }
        return message == "le-connection-abort-by-local" || message == "br-connection-canceled"
    }
}
