/// What has been seen of a host that was judged.
public struct Verdict: Sendable, Hashable {
    /// Something that the host should not have done, or did not do.
    public struct Finding: Sendable, Hashable {
        /// What was expected, as it was written; `step` for a step of the scenario that could not be done.
        public var expectation: String
        /// When, since the simulation began.
        public var time: Duration
        /// What happened, as a clause.
        public var detail: String
        /// What went over the line until then, the last of it.
        public var exchanges: [Exchange] = []
    }

    /// A command of the host, or a line of the device, without its end; a packet over BLE.
    public enum Exchange: Sendable, Hashable {
        case heard([UInt8])
        case said([UInt8])
    }

    /// How many findings are kept.
    static let longestList = 100
    /// How many exchanges are kept.
    static let exchangeCount = 12

    /// The first 100 findings, and the first on each expectation, in their order.
    public internal(set) var findings: [Finding] = []
    /// How many findings there were.
    public internal(set) var count = 0
    /// The last 12 of what went over the line.
    public internal(set) var exchanges: [Exchange] = []
    /// What was expected and never came to the test, as it was written: no command came, or no line to react to.
    public internal(set) var untested: [String] = []

    /// Whether the host did all that was expected, and was seen to.
    public var hasPassed: Bool { count == 0 && untested.isEmpty }

    mutating func note(_ exchange: Exchange) {
        if exchanges.count == Self.exchangeCount { exchanges.removeFirst() }
        exchanges.append(exchange)
    }

    mutating func add(_ expectation: HostExpectation, at time: Duration, _ detail: String) {
        add(Finding(expectation: expectation.text, time: time, detail: detail, exchanges: exchanges))
    }

    /// What the host was expected to do in the course of a scenario was not put to the test.
    mutating func add(_ failure: StepFailure) {
        add(Finding(expectation: "step", time: failure.time, detail: "\(failure)"))
    }

    private mutating func add(_ finding: Finding) {
        count += 1
        // The first of its kind is kept however many there are of others.
        if findings.count < Self.longestList || !findings.contains(where: { $0.expectation == finding.expectation }) {
            findings.append(finding)
        }
    }
}

extension Verdict: CustomStringConvertible {
    /// A time in seconds, to the millisecond.
    static func seconds(_ time: Duration) -> String {
        let milliseconds = time.components.attoseconds / 1_000_000_000_000_000
        return "\(time.components.seconds).\("00\(milliseconds)".suffix(3)) s"
    }

    /// One line for each finding.
    public var description: String {
        if hasPassed { return "the host did all that was expected" }
        var lines = findings.map { finding in
            "at \(Self.seconds(finding.time)): \(finding.expectation): \(finding.detail)"
        }
        if count > findings.count { lines.append("and \(count - findings.count) more") }
        lines += untested.map { "\($0): was never put to the test" }
        return lines.joined(separator: "\n")
    }
}
