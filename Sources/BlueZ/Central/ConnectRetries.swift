/// The time limits for connecting.
public struct ConnectPatience: Sendable, Hashable {
    /// The limit for one attempt, until the services are known.
    public var attempt: Duration
    /// The limit for all attempts and the search for the device.
    public var total: Duration
    /// The limit for each search for a device that is not in sight.
    public var search: Duration

    /// Creates limits. The defaults are chosen, not measured.
    public init(
        attempt: Duration = .seconds(20), total: Duration = .seconds(60), search: Duration = .seconds(10)
    ) {
        self.search = search
        self.attempt = attempt
        self.total = total
    }
}

/// The policy after a failed attempt to connect.
struct ConnectRetries {
    /// The next step.
    enum Step: Equatable {
        case retry(after: Duration)
        case giveUp
    }

    /// The number of retries after failures of a busy radio: see ``isPassing(_:)``. The number and the pause are
    /// chosen, not measured; together they allow for 2.25 s.
    static let passingLimit = 9
    /// The pause before each of these retries.
    static let passingPause = Duration.milliseconds(250)

    /// The number of failures of a busy radio so far.
    private var passing = 0
    /// The pauses before the retries after other failures, which are counted separately.
    private var pauses = BackOff.usual

    /// Returns the next step after a failed attempt.
    ///
    /// - Parameter error: The error of the attempt.
    mutating func next(after error: BLEError) -> Step {
        if Self.isPassing(error) {
            passing += 1
            return passing <= Self.passingLimit ? .retry(after: Self.passingPause) : .giveUp
        }
        switch error.code {
        // Without a D-Bus name, the device never came in sight. With one, bluetoothd reports that the device has gone.
        case .notFound where error.name == nil: return .giveUp
        case .notFound, .busy, .disconnected, .timedOut, .failed:
            return pauses.next().map { .retry(after: $0) } ?? .giveUp
        case .notRunning, .noBus, .noAdapter, .adapterOff, .adapterFull, .notPermitted, .notPaired, .unsupported,
            .invalidArgument, .closed, .cancelled:
            return .giveUp
        }
    }

    /// Whether the radio was only busy with another operation. bluetoothd reports these failures as `Failed`, and only
    /// the text identifies them. bleak retries after the same two messages (bleak#1154).
    private static func isPassing(_ error: BLEError) -> Bool {
        guard error.name == .bluez("Failed"), let message = error.message else { return false }
        return message == "le-connection-abort-by-local" || message == "br-connection-canceled"
    }
}
