public import LineProtocol

/// Sends one line unchanged and collects the answer.
///
/// ```swift
/// let exchange = LineExchange(with: .pump, over: link, clock: ContinuousClock())
/// try await exchange.send(Array("STATUS".utf8)) { print($0.text) }
/// ```
public struct LineExchange: Sendable {
    /// The answer of a device.
    public struct Answer: Sendable, Hashable {
        /// The number of lines, including a partial last line.
        public internal(set) var lineCount = 0
        /// The code of the first error in the answer, or the line that reported it; nil if there was no error.
        public internal(set) var deviceError: String?
        /// Whether the answer is complete; false if there was none, or if a time-out cut it off.
        public internal(set) var hasEnded = false
    }

    private let family: Family
    private let link: any Link
    private let clock: any Clock<Duration>

    /// Creates an exchange over `link`, which the caller still owns and closes.
    ///
    /// - Parameters:
    ///   - family: The family of the device, whose rules recognize errors.
    ///   - link: An open link.
    ///   - clock: The clock for all time-outs.
    public init(with family: Family, over link: any Link, clock: any Clock<Duration>) {
        self.family = family
        self.link = link
        self.clock = clock
    }

    /// Reads the lines that arrived before anything was sent, so that they are not taken for an answer. Never waits for
    /// the device.
    public func earlierLines() async throws(LinkError) -> [DeviceLine] { try await DeviceLines.earlier(on: link) }

    /// Sends a line and collects the answer. Call ``earlierLines()`` first: bytes that arrived earlier would be taken
    /// for the answer.
    ///
    /// - Parameters:
    ///   - line: The line, without its end.
    ///   - ends: The line end; nil for a line feed, or for nothing if the link keeps packet bounds.
    ///   - rules: The rules that decide when the answer is complete.
    ///   - hear: Called with each line of the answer.
    /// - Returns: A summary of the answer. Its ``Answer/lineCount`` is 0 if no line arrived in time.
    /// - Throws: `LinkError` if the line can't be sent, or the link ends before the answer does.
    public func send(
        _ line: [UInt8], ends: LineEnds? = nil, _ rules: AnswerRules = AnswerRules(), hear: (DeviceLine) -> Void
    ) async throws(LinkError) -> Answer {
        var answer = Answer()
        var lines = DeviceLines()
        let reader = LinkReader(link, clock: clock)
        try await link.send(line + link.lineEnd(ends))
        while !answer.hasEnded {
            let hasBegun = answer.lineCount > 0 || lines.hasPending
            guard let bytes = try await reader.next(within: hasBegun && rules.end == nil ? rules.quiet : rules.timeout)
            else { break }
            for line in lines.append(bytes) { answer.take(line, rules, of: family, hear) }
        }
        if let rest = lines.takePending() { answer.take(rest, rules, of: family, hear) }
        if rules.end == nil { answer.hasEnded = answer.lineCount > 0 }
        return answer
    }
}

extension LineExchange.Answer {
    fileprivate mutating func take(
        _ line: DeviceLine, _ rules: AnswerRules, of family: Family, _ hear: (DeviceLine) -> Void
    ) {
        lineCount += 1
        if deviceError == nil { deviceError = rules.error(in: line, of: family) }
        if rules.isEnd(line) { hasEnded = true }
        hear(line)
    }
}
