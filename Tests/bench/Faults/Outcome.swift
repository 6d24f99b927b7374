/// What became of one thing that a host did with a device that has faults.
enum Outcome: Sendable, Hashable {
    /// It is so, or what the host shows is what the device has.
    case done
    /// The same, though the host had to ask more than once, or another way.
    case recovered
    /// The host says that it failed, or that it does not know.
    case reported
    /// It is not so, but what the host shows is what was delivered, and that is valid by the protocol.
    case undetectable
    /// The host is wrong, and could have known.
    case failed(String)

    /// The order in which an outcome tells more than others of the same step.
    private var weight: Int {
        switch self {
        case .done: 0
        case .recovered: 1
        case .reported: 2
        case .undetectable: 3
        case .failed: 4
        }
    }

    /// That of a step of several parts.
    static func worst(_ outcomes: some Sequence<Outcome>) -> Outcome {
        outcomes.max { $0.weight < $1.weight } ?? .done
    }

    /// That of something which is as the host says.
    static func right(asked times: Int) -> Outcome { times > 1 ? .recovered : .done }
}

/// How often each outcome came about.
struct OutcomeCounts: Sendable {
    private(set) var done = 0
    private(set) var recovered = 0
    private(set) var reported = 0
    private(set) var undetectable = 0
    /// What the host did wrong.
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
