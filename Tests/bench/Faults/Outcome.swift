/// The outcome of one action of a host on a device with faults.
enum Outcome: Sendable, Hashable {
    /// The action succeeded, or the host shows the device's true state.
    case done
    /// Like `done`, but the host had to ask more than once, or lost its link in between.
    case recovered
    /// The host reports a failure or an unknown outcome.
    case reported
    /// The host is wrong, but it shows what was delivered, and that was valid by the protocol.
    case undetectable
    /// The host is wrong, and could have known.
    case failed(String)

    /// The outcome of an action whose result the host reports correctly.
    ///
    /// - Parameter times: The number of times that the host has sent the command.
    static func right(asked times: Int) -> Outcome { times > 1 ? .recovered : .done }
}

/// The number of times that each outcome occurred.
struct OutcomeCounts: Sendable {
    private(set) var done = 0
    private(set) var recovered = 0
    private(set) var reported = 0
    private(set) var undetectable = 0
    /// The texts of the failed outcomes, each behind the step and the seed at which it occurred.
    private(set) var failures: [String] = []

    mutating func add(_ outcome: Outcome, _ place: @autoclosure () -> String) {
        switch outcome {
        case .done: done += 1
        case .recovered: recovered += 1
        case .reported: reported += 1
        case .undetectable: undetectable += 1
        case .failed(let text): failures.append("\(place()): \(text)")
        }
    }
}
