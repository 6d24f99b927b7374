/// The result of judging a host.
public struct Verdict: Sendable, Hashable {
    /// A violation of an expectation, or a scenario step that failed.
    public struct Finding: Sendable, Hashable {
        /// The expectation as typed; `step` for a scenario step that failed.
        public var expectation: String
        /// The time since the simulation began.
        public var time: Duration
        /// A description of the violation, as a clause.
        public var detail: String
        /// The last exchanges up to the finding, at most 12; none for a scenario step that failed.
        public var exchanges: [Exchange] = []
    }

    /// A command of the host or a line of the device, without its end, or a BLE packet.
    public enum Exchange: Sendable, Hashable {
        /// Bytes from the host.
        case heard([UInt8])
        /// Bytes from the device.
        case said([UInt8])
    }

    /// The number of findings that are kept, besides the first finding of each expectation.
    static let longestList = 100
    /// The number of exchanges that are kept.
    static let exchangeCount = 12

    /// The first 100 findings, and the first finding of each expectation, in order.
    public internal(set) var findings: [Finding] = []
    /// The number of all findings, kept or not.
    public internal(set) var count = 0
    /// The last 12 exchanges.
    public internal(set) var exchanges: [Exchange] = []
    /// The expectations, as typed, that were never tested, for example because no line to react to came.
    public internal(set) var untested: [String] = []

    /// Whether the host met all expectations, all were tested, and no scenario step failed.
    public var hasPassed: Bool { count == 0 && untested.isEmpty }

    mutating func note(_ exchange: Exchange) {
        if exchanges.count == Self.exchangeCount { exchanges.removeFirst() }
        exchanges.append(exchange)
    }

    mutating func add(_ expectation: HostExpectation, at time: Duration, _ detail: String) {
        add(Finding(expectation: expectation.text, time: time, detail: detail, exchanges: exchanges))
    }

    /// Adds a finding for a scenario step that failed, and so did not test the host.
    mutating func add(_ failure: StepFailure) {
        add(Finding(expectation: "step", time: failure.time, detail: "\(failure)"))
    }

    private mutating func add(_ finding: Finding) {
        count += 1
        // The first finding of each expectation is kept, however many findings other expectations have.
        if findings.count < Self.longestList || !findings.contains(where: { $0.expectation == finding.expectation }) {
            findings.append(finding)
        }
    }
}

extension Verdict: CustomStringConvertible {
    /// Formats a time in seconds, to the millisecond.
    static func seconds(_ time: Duration) -> String {
        let milliseconds = time.components.attoseconds / 1_000_000_000_000_000
        return "\(time.components.seconds).\("00\(milliseconds)".suffix(3)) s"
    }

    /// One line for each kept finding and for each untested expectation; a single line if the host has passed.
    public var description: String {
        if hasPassed { return "the host met all expectations" }
        var lines = findings.map { finding in
            "at \(Self.seconds(finding.time)): \(finding.expectation): \(finding.detail)"
        }
        if count > findings.count { lines.append("and \(count - findings.count) more") }
        lines += untested.map { "\($0): was not tested" }
        return lines.joined(separator: "\n")
    }
}
